module attributes {llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>, llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @tokens(%tokens: tensor<?xi32> {llm.role = "tokens"}) -> tensor<?xi32> {
    return %tokens : tensor<?xi32>
  }
}
