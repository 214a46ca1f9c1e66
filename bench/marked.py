"""Parts of pages that programs write, between two comments."""


def printed(lines):
    """The text of `lines`, each printed as soon as it is made."""
    made = []
    for line in lines:
        print(line, flush=True)
        made.append(line)
    return "\n".join(made)


def with_part(text, begin, end, part):
    """`text` with `part` between its comments `begin` and `end`."""
    head, rest = text.split(begin, 1)
    tail = rest.split(end, 1)[1]
    return f"{head}{begin}\n\n{part}\n\n{end}{tail}"
