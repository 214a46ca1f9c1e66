"""The manual page and the shell completion of the command, out of its options:

    python -m shardopt.manual man > shardopt.1
    python -m shardopt.manual bash > completions/shardopt
"""

from __future__ import annotations

import argparse
import sys
from typing import Iterator, Sequence

from .arguments import make_parser


def _options(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        if action.help != argparse.SUPPRESS and action.dest != "help":
            yield action


def _roff(text: str) -> str:
    """`text` for troff: hyphens stay, and a line does not begin with a control."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped


def _heading(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"\\fI{_roff(action.dest)}\\fR"
    names = ", ".join(f"\\fB{_roff(name)}\\fR" for name in action.option_strings)
    if action.nargs == 0:
        return names
    if action.choices:
        value = "|".join(map(str, action.choices))
    else:
        value = str(action.metavar or action.dest.upper())
    return f"{names} \\fI{_roff(value)}\\fR"


def man() -> str:
    """The page, for man(1)."""
    parser, verbs = make_parser()
    lines = [
        ".TH SHARDOPT 1",
        ".SH NAME",
        "shardopt \\- " + _roff((parser.description or "").rstrip(".").lower()),
        ".SH SYNOPSIS",
        ".B shardopt",
        "\\fIverb\\fR [\\fIoption\\fR ...]",
    ]
    for name, verb in verbs.items():
        lines += [f".SH {name.upper()}", _roff(verb.description or "") + "."]
        for action in _options(verb):
            lines += [".TP", _heading(action)]
            text = (action.help or "").replace("%%", "%")
            lines.append(_roff(text) if text else "\\&")
    lines += [".SH EXIT STATUS", _roff(" ".join((parser.epilog or "").split()))]
    return "\n".join(lines) + "\n"


def bash() -> str:
    """The completion, for bash and for zsh's bashcompinit: verbs, options, values
    that are a choice of few, and files."""
    _, verbs = make_parser()
    cases, values = [], {}
    for name, verb in verbs.items():
        words = [word for action in _options(verb) for word in action.option_strings]
        cases.append(f"    {name}) words='{' '.join(words)}' ;;")
        for action in _options(verb):
            for word in action.option_strings:
                if action.choices:
                    values[word] = " ".join(map(str, action.choices))
    chosen = [
        f"    {word}) COMPREPLY=($(compgen -W '{few}' -- \"$now\")); return ;;"
        for word, few in values.items()
    ]
    return "\n".join(
        [
            "_shardopt() {",
            "  local now=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words",
            "  COMPREPLY=()",
            "  if [ \"$COMP_CWORD\" = 1 ]; then",
            f"    COMPREPLY=($(compgen -W '{' '.join(verbs)}' -- \"$now\")); return",
            "  fi",
            "  case $before in",
            *chosen,
            "  esac",
            "  case ${COMP_WORDS[1]} in",
            *cases,
            "  esac",
            "  case $now in",
            "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$now\")) ;;",
            "    *) COMPREPLY=($(compgen -f -- \"$now\")) ;;",
            "  esac",
            "}",
            "complete -o filenames -F _shardopt shardopt",
            "",
        ]
    )


def main(words: Sequence[str]) -> int:
    kinds = {"man": man, "bash": bash}
    if len(words) != 1 or words[0] not in kinds:
        print("usage: python -m shardopt.manual man|bash", file=sys.stderr)
        return 2
    print(kinds[words[0]](), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
