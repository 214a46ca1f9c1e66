//===- PluginHost.cpp - Where simulator plugins run -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/PluginHost.h"
#include "shardopt/Search/BlackBox/Server.h"
#include "shardopt/Search/BlackBox/SimulatorPlugin.h"
#include "shardopt/Support/Suggest.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::blackbox;

//===----------------------------------------------------------------------===//
// Finding the host
//===----------------------------------------------------------------------===//

static constexpr const char *hostName = "shard-plugin-host";
static constexpr const char *hostVariable = "SHARDOPT_PLUGIN_HOST";

static bool isExecutable(const std::string &path) {
  return ::access(path.c_str(), X_OK) == 0;
}

/// The folder of the program or shared library that holds this function; empty
/// where the system does not say.
static std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&pluginCommand), &info))
    return "";
  std::string path = info.dli_fname;
  // A program is known by what it was called with, which need not be a path.
  if (path.find('/') == std::string::npos) {
    char program[4096];
    ssize_t length = ::readlink("/proc/self/exe", program, sizeof(program));
    if (length <= 0)
      return "";
    path.assign(program, length);
  }
  return path.substr(0, path.rfind('/') + 1);
}

/// The places of the host, in the order in which they are looked at.
static std::vector<std::string> hostCandidates() {
  std::vector<std::string> candidates;
  if (std::string folder = ownFolder(); !folder.empty())
    for (const char *inner : {"", "../bin/", "../../bin/"})
      candidates.push_back(folder + inner + hostName);
  const char *variable = std::getenv("PATH");
  std::string folders = variable ? variable : "";
  for (size_t begin = 0; begin < folders.size();) {
    size_t end = std::min(folders.find(':', begin), folders.size());
    if (end > begin)
      candidates.push_back(folders.substr(begin, end - begin) + "/" + hostName);
    begin = end + 1;
  }
  return candidates;
}

static ErrorOr<std::string> findHost() {
  if (const char *given = std::getenv(hostVariable); given && *given) {
    if (isExecutable(given))
      return std::string(given);
    return Error{std::string(hostVariable) + " is '" + given +
                 "', expected the path of an executable " + hostName};
  }
  for (const std::string &candidate : hostCandidates())
    if (isExecutable(candidate))
      return candidate;
  return Error{std::string("a plugin needs the program '") + hostName +
               "', neither next to this program nor on PATH; set " +
               hostVariable + " to its path"};
}

ErrorOr<std::vector<std::string>>
blackbox::pluginCommand(const std::string &file) {
  if (::access(file.c_str(), R_OK) != 0)
    return Error{"cannot read the plugin '" + file + "'"};
  ErrorOr<std::string> host = findHost();
  if (!host)
    return host.error();
  return std::vector<std::string>{*host, file};
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

namespace {

/// The simulators of a plugin, one after the other.
class PluginService final : public Service {
public:
  PluginService(const ShardOptSimulatorPlugin &plugin,
                std::vector<Degree> degrees)
      : plugin(plugin), read(std::move(degrees)) {}
  ~PluginService() override { destroy(); }

  std::optional<Error> greet(const Hello &hello) override;
  std::string name() const override { return plugin.name ? plugin.name : ""; }
  std::vector<Degree> degrees() const override {
    std::vector<Degree> further;
    for (Degree degree : read)
      if (!infoOf(degree).isRequired())
        further.push_back(degree);
    return further;
  }
  const std::vector<std::string> &opNames() const override {
    return accepted.ops;
  }
  LatencyKey latencyKey() const override { return *accepted.latency; }
  ErrorOr<Answer> evaluate(const Strategy &strategy) override;

private:
  void destroy();

  const ShardOptSimulatorPlugin &plugin;
  const std::vector<Degree> read; ///< degrees of the plugin, in its order
  Hello accepted;                 ///< what `problem` points into
  std::vector<const char *> opPointers;
  ShardOptProblem problem = {};
  void *simulator = nullptr;
};

} // namespace

void PluginService::destroy() {
  if (simulator && plugin.destroy)
    plugin.destroy(simulator);
  simulator = nullptr;
}

std::optional<Error> PluginService::greet(const Hello &hello) {
  if (!hello.latency || !hello.context || hello.ops.empty())
    return Error{"expected a workload with phase and context, and ops"};
  destroy();
  accepted = hello;
  opPointers.clear();
  for (const std::string &op : accepted.ops)
    opPointers.push_back(op.c_str());
  problem.hello = accepted.text.c_str();
  problem.ops = opPointers.data();
  problem.num_ops = opPointers.size();
  problem.is_prefill = accepted.latency == LatencyKey::Ttft;
  problem.context = *accepted.context;
  problem.slo_ms =
      accepted.sloMs.value_or(std::numeric_limits<double>::infinity());
  problem.memory_capacity_gb = accepted.memoryCapacityGb.value_or(
      std::numeric_limits<double>::infinity());

  std::array<char, 1024> message = {};
  simulator = plugin.create(&problem, message.data(), message.size());
  if (simulator)
    return std::nullopt;
  message.back() = '\0';
  return Error{message[0] ? message.data()
                          : "the plugin does not say why it cannot start"};
}

static Reason reasonOf(const char *spelling) {
  for (Reason reason : {Reason::Memory, Reason::Slo})
    if (spelling && std::string_view(spelling) == spell(reason))
      return reason;
  return Reason::Structural;
}

ErrorOr<Answer> PluginService::evaluate(const Strategy &strategy) {
  if (!simulator)
    return Error{"no simulator yet, expected a hello before strategies"};
  std::vector<uint8_t> dims;
  for (Dim dim : strategy.dims)
    dims.push_back(uint8_t(dim));
  if (auto unread = findUnread(strategy.degrees, read, /*readsStages=*/false))
    return Error{"the plugin does not read " + *unread};
  std::vector<int64_t> values;
  for (Degree degree : read)
    values.push_back(strategy.degrees[degree]);
  ShardOptStrategy asked = {values.data(), strategy.degrees.devices(),
                            dims.data()};
  ShardOptEvaluation answered = {};
  if (int status = plugin.evaluate(simulator, &asked, &answered))
    return Error{"the plugin failed with status " + std::to_string(status)};
  Answer answer;
  Evaluation &evaluation = answer.evaluation;
  evaluation.valid = answered.valid;
  evaluation.reason = answered.valid ? Reason::None : reasonOf(answered.reason);
  evaluation.throughput = answered.throughput;
  evaluation.latencyMs = answered.latency_ms;
  evaluation.memoryGb = answered.memory_gb;
  return answer;
}

/// The degrees that `plugin` lists.
static ErrorOr<std::vector<Degree>>
degreesOf(const ShardOptSimulatorPlugin &plugin) {
  PartialDegrees listed;
  std::vector<Degree> degrees;
  for (const char *const *name = plugin.degrees; name && *name; ++name) {
    std::optional<Degree> degree = parseDegree(*name);
    if (!degree)
      return Error{"it lists the degree '" + abbreviate(*name) + "'; " +
                   listKnown(*name, degreeNames())};
    listed[*degree] = 1;
    degrees.push_back(*degree);
  }
  if (std::optional<Degree> missing = listed.firstMissing())
    return Error{std::string("it does not list the degree '") +
                 spell(*missing) + "', which every strategy has"};
  return degrees;
}

/// The description in the plugin `file`, which stays loaded.
static ErrorOr<const ShardOptSimulatorPlugin *> load(const std::string &file) {
  // A name without a slash would be looked for among the system's libraries.
  std::string path = file.find('/') == std::string::npos ? "./" + file : file;
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("cannot load the plugin: ") + dlerror()};
  auto describe = reinterpret_cast<decltype(&shardoptSimulatorPlugin)>(
      dlsym(library, "shardoptSimulatorPlugin"));
  if (!describe)
    return Error{"'" + file +
                 "' is no simulator plugin: it does not define "
                 "'shardoptSimulatorPlugin'"};
  const ShardOptSimulatorPlugin *plugin = describe();
  if (!plugin)
    return Error{"the plugin '" + file + "' has no description"};
  if (plugin->version != SHARDOPT_SIMULATOR_PLUGIN_VERSION)
    return Error{"the plugin '" + file + "' is of version " +
                 std::to_string(plugin->version) +
                 " of the interface, this shardopt is of version " +
                 std::to_string(SHARDOPT_SIMULATOR_PLUGIN_VERSION) +
                 (plugin->version == 1
                      ? ", in which degrees are an array in the order of the "
                        "names that the plugin lists"
                      : "")};
  if (!plugin->create || !plugin->evaluate)
    return Error{"the plugin '" + file + "' lacks 'create' or 'evaluate'"};
  return plugin;
}

bool blackbox::servePlugin(const std::string &file, int in, int out) {
  ErrorOr<const ShardOptSimulatorPlugin *> plugin = load(file);
  if (!plugin) {
    writeAll(out, errorLine({std::nullopt, plugin.error()}) + "\n");
    return false;
  }
  ErrorOr<std::vector<Degree>> degrees = degreesOf(**plugin);
  if (!degrees) {
    Error error{"cannot use the plugin '" + file +
                "': " + degrees.error().message};
    writeAll(out, errorLine({std::nullopt, error}) + "\n");
    return false;
  }
  PluginService service(**plugin, std::move(*degrees));
  return serve(service, in, out);
}
