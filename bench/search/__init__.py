"""The comparison of searchers: what is run, how it is scored, what is published.

`workloads`, `searchers` and `manifest` say what is run; `inside` and `outside`
run it; `results` keeps a row a run; `scores` and `intervals` are the arithmetic;
`page`, its sections and `plots` make docs/SearchComparison.md and pages of tables of the rows.
"""
