"""Random templates over the language that chat templates are written in, drawn from seeds.

Programs are typed as they are drawn, so that most of them run; those that fail must fail everywhere.
Left out is what Rapt does otherwise on purpose: printing a generator, and Markup.
"""

from text_oracles import Random

STRINGS = [
    "", " ", "a", "Hello", "hello world", "  padded  ", "x\ny", "a,b,,c", "Größe", "日本語", "it's",
    'say "hi"', "back\\slash", "tab\there", "12", "-7", "3.5", "<|im_start|>", "UPPER", "Title Case",
    "one two  three", "line\n\nline", "👍🏽!", "ß", "%s", "{}", "a-b_c", "é", "0x1F", "True", "\u00a0",
]
NAMES = ["a", "b", "c", "ns", "item", "text", "user_name"]
KEYS = ["role", "content", "name", "x", "items", "keys", "count"]
SPACES = ["", "", "", " ", "\n", "\n\n", "  ", " \n  ", "\t", "\n    "]
LITERAL_TEXTS = ["x", "Hello, ", "<|im_start|>", "- ", ": ", "{", "}", "% ", "# ", "日本", "end.", "a{b}c"]


class Program:
    """One random template."""

    def __init__(self, random: Random):
        self.random = random
        self.depth = 0
        self.loops = 0
        self.macros: list[tuple[str, int]] = []

    def chance(self, one_in: int) -> bool:
        return self.random.below(one_in) == 0

    def pick(self, items):
        return self.random.choice(items)

    # ----- expressions, by type

    def literal(self, text: str) -> str:
        quote = self.pick(["'", '"'])
        out = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
        if self.chance(2):
            out = out.replace("\n", "\\n").replace("\t", "\\t")
        return quote + out + quote

    def integer(self, depth: int = 0) -> str:
        kinds = 5 if depth > 2 else 16
        match self.random.below(kinds):
            case 0 | 1:
                return str(self.random.below(12))
            case 2:
                return self.pick(["n", "(-3)", "big", "0", "1_000", "0x1f"])
            case 3:
                return f"({self.sequence(3)}|{self.pick(['length', 'count'])})"
            case 4:
                return self.pick(["loop.index", "loop.index0", "loop.length", "loop.revindex", "loop.revindex0"]) if self.loops else "2"
            case 5 | 6:
                return f"({self.integer(depth + 1)} {self.pick(['+', '-', '*'])} {self.integer(depth + 1)})"
            case 7:
                return f"({self.integer(depth + 1)} {self.pick(['//', '%'])} {self.pick(['2', '3', '-4', '7'])})"
            case 8:
                return f"{self.string(depth + 1)}.{self.pick(['find', 'count', 'rfind'])}({self.string(depth + 1)})"
            case 9:
                return f"({self.string(depth + 1)}|length)"
            case 10:
                return f"({self.string(depth + 1)}|int({self.pick(['', '7', 'default=-1'])}))"
            case 11:
                return f"({self.integer(depth + 1)}|abs)"
            case 12:
                return f"([{self.integer(3)}, {self.integer(3)}]|{self.pick(['sum', 'min', 'max', 'first', 'last'])})"
            case 13:
                return f"(2 ** {self.random.below(9)})"
            case 14:
                return f"({self.integer(depth + 1)} if {self.boolean(depth + 1)} else {self.integer(depth + 1)})"
            case _:
                return f"-{self.integer(3)}"

    def number(self, depth: int = 0) -> str:
        match self.random.below(6):
            case 0:
                return self.pick(["1.5", "0.1", "2.0", "1e3", "1e20", "1.5e-7", "ratio", "123456.789"])
            case 1:
                return f"({self.integer(depth + 1)} / {self.pick(['2', '3', '4', '0.5'])})"
            case 2:
                how = self.pick(["", "1", "2", "0, 'ceil'", "1, 'floor'"])
                return f"({self.number(depth + 1) if depth < 2 else '2.675'}|round({how}))"
            case 3:
                return f"({self.string(3)}|float)"
            case _:
                return self.integer(depth + 1)

    def boolean(self, depth: int = 0) -> str:
        kinds = 5 if depth > 2 else 14
        match self.random.below(kinds):
            case 0:
                return self.pick(["true", "false", "True", "flag", "not flag", "none"])
            case 1:
                return f"{self.integer(3)} {self.pick(['==', '!=', '<', '<=', '>', '>='])} {self.integer(3)}"
            case 2:
                return f"{self.string(3)} {self.pick(['==', '!=', 'in', 'not in', '<'])} {self.string(3)}"
            case 3:
                return f"{self.pick(['undef', 'a', 'n', 'flag', 'data.x', 'data.nothing', 'messages'])} is {self.pick(['', 'not '])}{self.pick(['defined', 'none', 'undefined', 'string', 'mapping', 'iterable', 'sequence', 'number', 'integer', 'float', 'boolean', 'true', 'false', 'callable'])}"
            case 4:
                return self.pick(["loop.first", "loop.last", "not loop.last"]) if self.loops else "flag"
            case 5 | 6:
                return f"({self.boolean(depth + 1)} {self.pick(['and', 'or'])} {self.boolean(depth + 1)})"
            case 7:
                return f"(not {self.boolean(depth + 1)})"
            case 8:
                return f"{self.string(depth + 1)}.{self.pick(['startswith', 'endswith'])}({self.string(3)})"
            case 9:
                return f"{self.integer(depth + 1)} is {self.pick(['odd', 'even', 'divisibleby 3', 'divisibleby(2)', 'eq 2', 'lt(5)', 'in [1, 2, 3]', 'sameas 1'])}"
            case 10:
                return f"{self.integer(3)} < {self.integer(3)} <= {self.integer(3)}"
            case 11:
                return f"{self.string(depth + 1)}.{self.pick(['isdigit', 'isalpha', 'isupper', 'islower', 'isspace', 'istitle', 'isalnum', 'isnumeric', 'isascii', 'isprintable'])}()"
            case 12:
                return f"{self.value(3)} in {self.sequence(depth + 1)}"
            case _:
                return f"({self.value(3)} == {self.value(3)})"

    def string(self, depth: int = 0) -> str:
        kinds = 5 if depth > 2 else 27
        match self.random.below(kinds):
            case 0 | 1:
                return self.literal(self.pick(STRINGS))
            case 2:
                return self.pick(["text", "user_name", "data.content", "data['role']", "messages[0].content", "messages[-1]['role']"])
            case 3:
                return f"({self.integer(3)}|string)"
            case 4:
                return "(" + self.literal(self.pick(STRINGS)) + self.pick(["", ".strip()", "|upper", "|trim", "|lower"]) + ")"
            case 5 | 6:
                return f"({self.string(depth + 1)} ~ {self.value(depth + 1)})"
            case 7:
                return f"({self.string(depth + 1)} + {self.string(depth + 1)})"
            case 8:
                chars = self.pick(["", "'a '", "'\\n'", "'xyz'", "'lo'"])
                return f"{self.string(depth + 1)}.{self.pick(['strip', 'lstrip', 'rstrip'])}({chars})"
            case 9:
                return f"{self.string(depth + 1)}.{self.pick(['upper', 'lower', 'title', 'capitalize', 'swapcase', 'casefold'])}()"
            case 10:
                name = self.pick(["upper", "lower", "title", "capitalize", "trim", "string", "length"])
                return f"({self.string(depth + 1)}|{name}|string)"
            case 11:
                return f"{self.string(depth + 1)}.replace({self.string(3)}, {self.string(3)}{self.pick(['', '', ', 1'])})"
            case 12:
                return f"({self.string(depth + 1)}|replace({self.string(3)}, {self.string(3)}))"
            case 13:
                return f"{self.string(depth + 1)}[{self.slice()}]"
            case 14:
                where = self.pick(["", "','", "' '", "'a', 1", "none, 1"])
                part = self.pick(["[0]", "[-1]", '|join("+")', "|last", "|string"])
                return f"{self.string(depth + 1)}.split({where}){part}"
            case 15:
                separator = self.pick(["", "', '", "'|'", "text"])
                return f"({self.sequence(depth + 1)}|join({separator}))"
            case 16:
                styles = ["", "", "(indent=2)", "(ensure_ascii=true)", "(sort_keys=true)"]
                style = self.pick([*styles, "(separators=(',', ':'))", "(indent=1, sort_keys=true)"])
                return f"({self.value(depth + 1)}|tojson{style})"
            case 17:
                return f"({self.string(depth + 1)} if {self.boolean(depth + 1)} else {self.string(depth + 1)})"
            case 18:
                how = self.pick(["", "2", "2, true", "'> '", "3, blank=true"])
                return f"({self.string(depth + 1)}|indent({how}))"
            case 19:
                return f"('{self.pick(['%s', '%5s|', '%-6s|', '<%r>'])}' % ({self.value(depth + 1)},))"
            case 20:
                return f"('{self.pick(['%d', '%05d', '%x', '%+d', '%.2f', '%8.3f', '%e', '%g', '%i%%'])}' % {self.integer(3)})"
            case 21:
                return f"'{self.pick(['{}', '{0}-{0}', '[{:>6}]', '[{:<6}]', '[{:^7}]', '{!r}', '{:*^9}'])}'.format({self.string(depth + 1)})"
            case 22:
                return f"'{self.pick(['{}', '{:5d}|', '{:,}', '{:05d}', '{:x}', '{:+}', '{:.2f}', '{:.1%}', '{:e}'])}'.format({self.integer(3)})"
            case 23:
                fill = self.pick(["", ", '*'"])
                name = self.pick(["center", "ljust", "rjust"])
                return f"{self.string(depth + 1)}.{name}({self.random.below(12)}{fill})"
            case 24:
                return f"({self.value(depth + 1)}|string)"
            case 25:
                maybe = self.pick(["undef", "data.nothing", "text", "none", "''"])
                return f"({maybe}|default({self.string(3)}{self.pick(['', '', ', true'])}))"
            case _:
                return f"{self.string(depth + 1)}.{self.pick(['removeprefix', 'removesuffix'])}({self.string(3)})"

    def slice(self) -> str:
        def bound():
            return self.pick(["", "1", "2", "-1", "-3", "5", "n", "100"])

        text = f"{bound()}:{bound()}"
        return text + (":" + self.pick(["", "1", "2", "-1", "-2", "3"]) if self.chance(3) else "")

    def sequence(self, depth: int = 0) -> str:
        kinds = 4 if depth > 2 else 24
        match self.random.below(kinds):
            case 0:
                return self.pick(["numbers", "words", "messages", "[]", "()"])
            case 1:
                return f"[{', '.join(self.value(3) for _ in range(self.random.below(4)))}]"
            case 2:
                return f"range({self.random.below(5)}{self.pick(['', ', 6', ', 9, 2'])})"
            case 3:
                return self.pick(["words", "numbers", "'abc'", "[1, 2.0, 'x', none, true]", "(1, 'two')"])
            case 4:
                return f"({self.sequence(depth + 1)}|list)"
            case 5:
                return f"(({self.sequence(depth + 1)}|list) + [{self.value(3)}])"
            case 6:
                return f"({self.sequence(depth + 1)}|list)[{self.slice()}]"
            case 7:
                plain = ["sort", "sort(reverse=true)", "sort(case_sensitive=true)", "unique|list", "reverse|list"]
                how = self.pick([*plain, "map('upper')|list", "map('length')|list", "select('in', text)|list"])
                return f"(words|{how})"
            case 8:
                plain = ["sort", "sort(true)", "unique|list", "reverse|list", "batch(2)|list", "batch(3, 0)|list"]
                tests = ["select('odd')|list", "reject('even')|list", "select('gt', 2)|list", "map('string')|list"]
                return f"(numbers|{self.pick([*plain, *tests, 'slice(3)|list'])})"
            case 9:
                maps = ["map(attribute='role')", "map(attribute='name', default='?')", "map(attribute='content.0')"]
                keeps = ["selectattr('role', 'eq', 'user')", "rejectattr('role', 'equalto', 'user')", "selectattr('name', 'defined')"]
                how = self.pick([*maps, *keeps, "groupby('role')", "sort(attribute='role')"])
                return f"(messages|{how}|list)"
            case 10:
                splits = ["split()", "split('a')", "rsplit(' ', 1)", "rsplit()", "rsplit(none, 1)"]
                how = self.pick([*splits, "splitlines()", "splitlines(true)", "partition('a')", "rpartition(' ')"])
                return f"{self.string(depth + 1)}.{how}"
            case 11:
                return f"{self.mapping(depth + 1)}.{self.pick(['items()', 'keys()', 'values()', 'items()|list'])}"
            case 12:
                return f"({self.mapping(depth + 1)}|{self.pick(['dictsort', 'items|list', 'list', 'dictsort(reverse=true)', 'dictsort(true)'])})"
            case 13:
                return f"({self.string(depth + 1)}|list)"
            case 14:
                return f"({self.value(3)}, {self.value(3)})"
            case 15:
                return f"([{self.value(3)}] * {self.random.below(3)})"
            case _:
                return self.sequence(3)

    def mapping(self, depth: int = 0) -> str:
        match self.random.below(4 if depth < 3 else 2):
            case 0:
                return self.pick(["data", "{}", "messages[0]", "nested"])
            case 1:
                pairs = [f"{self.literal(self.pick(KEYS))}: {self.value(depth + 2)}" for _ in range(self.random.below(4))]
                return "{" + ", ".join(pairs) + "}"
            case 2:
                arguments = self.pick(["", "data", "data, x=1", "role=text", "[('k', 1)]"])
                return f"dict({arguments})"
            case _:
                return "{1: 'one', 'two': [1, {'z': none}], none: 2.5}"

    def value(self, depth: int = 0) -> str:
        if depth > 3:
            return self.pick(["1", "'s'", "none", "true", "n", "text", "2.5"])
        match self.random.below(9):
            case 0 | 1:
                return self.string(depth + 1)
            case 2:
                return self.integer(depth + 1)
            case 3:
                return self.boolean(depth + 1)
            case 4:
                return self.sequence(depth + 1) if depth < 3 else "[1, 'a']"
            case 5:
                return self.mapping(depth + 1)
            case 6:
                return self.number(depth + 1)
            case 7:
                return self.pick(["none", "undef", "data.x", "data['count']", "data.get('y', 'z')", "nested.a.b", "nested['a']['c'][0]", "item", "a", "b"])
            case _:
                return self.pick(["text", "n", "flag", "ratio", "words[0]", "numbers[1]", "messages[0]"])

    def printable(self) -> str:
        """An expression whose text is the same everywhere: no view of a generator."""
        return self.value(self.random.below(2))

    # ----- statements

    def space(self) -> str:
        return self.pick(SPACES)

    def tag(self, inner: str) -> str:
        left = self.pick(["{% ", "{% ", "{%- ", "{%- ", "{%+ ", "{%"])
        right = self.pick([" %}", " %}", " -%}", " -%}", " +%}", "%}"])
        if left == "{%" and inner[0] in "+-":
            left = "{% "
        return left + inner + right

    def output(self) -> str:
        left, right = self.pick(["{{ ", "{{- ", "{{"]), self.pick([" }}", " -}}", "}}"])
        expression = self.printable()
        if left == "{{" and expression[0] in "+-{":
            left = "{{ "
        if right == "}}" and expression[-1] in "}":
            right = " }}"
        return left + expression + right

    def data(self) -> str:
        text = self.space() + self.pick(LITERAL_TEXTS) + self.space()
        for opening in ("{{", "{%", "{#"):
            text = text.replace(opening, "(")
        return text

    def body(self, most: int = 3) -> str:
        return "".join(self.statement() for _ in range(1 + self.random.below(most)))

    def statement(self) -> str:
        self.depth += 1
        try:
            kind = self.random.below(8 if self.depth > 3 else 26)
            return self.simple(kind) if kind < 14 else self.compound(kind)
        finally:
            self.depth -= 1

    def simple(self, kind: int) -> str:
        match kind:
            case 0 | 1 | 2:
                return self.data()
            case 3 | 4 | 5 | 6:
                return self.space() + self.output() + self.space()
            case 7:
                return self.space() + self.tag(f"set {self.pick(NAMES[:4])} = {self.value()}") + self.space()
            case 8:
                return self.tag(f"set a, b = {self.value(2)}, {self.value(2)}")
            case 9:
                return "{#" + self.pick(["", "-", "+"]) + " a comment " + self.pick(["", "-", "+"]) + "#}" + self.space()
            case 10:
                return self.tag("raw") + self.pick(["{{ raw }}", " {% if %} ", "\n#}\n"]) + self.tag("endraw") + self.space()
            case 11:
                if self.loops:
                    return self.tag(f"if {self.boolean(2)}") + self.tag(self.pick(["break", "continue"])) + self.tag("endif")
                return self.tag("print " + self.printable())
            case 12:
                return self.tag("set store = namespace(x=0, seen=[])") + self.tag(f"set store.x = {self.value(2)}") + "{{ store.x }}"
            case _:
                if self.macros:
                    name, count = self.pick(self.macros)
                    arguments = ", ".join(self.value(2) for _ in range(self.random.below(count + 1)))
                    return "{{ " + f"{name}({arguments})" + " }}"
                return self.output()

    def compound(self, kind: int) -> str:
        match kind:
            case 14 | 15 | 16:
                text = self.tag(f"if {self.boolean()}") + self.body()
                for _ in range(self.random.below(2)):
                    text += self.tag(f"elif {self.boolean()}") + self.body()
                if self.chance(2):
                    text += self.tag("else") + self.body()
                return self.space() + text + self.tag("endif") + self.space()
            case 17 | 18 | 19 | 20:
                return self.space() + self.loop() + self.space()
            case 21:
                return self.macro()
            case 22:
                inner = self.body(2)
                target = self.pick(["a", "b", "c"])
                return self.tag(f"set {target}{self.pick(['', '', ' | upper', ' | trim'])}") + inner + self.tag("endset") + "{{ " + target + " }}"
            case 23:
                return self.tag(f"with {self.pick(['a', 'b'])} = {self.value(2)}") + self.body(2) + self.tag("endwith")
            case 24:
                chain = self.pick(["upper", "trim", "indent(2)", "replace('a', 'b')|title"])
                return self.tag("filter " + chain) + self.body(2) + self.tag("endfilter")
            case _:
                loops, self.loops = self.loops, 0
                text = self.tag("generation") + self.body(2) + self.tag("endgeneration")
                self.loops = loops
                return text

    def loop(self) -> str:
        match self.random.below(5):
            case 0:
                head = f"for item in {self.sequence()}"
            case 1:
                which = self.pick(["", " if item.role == 'user'", " if item.content", "[1:]", "[::-1]"])
                head = "for item in messages" + which
            case 2:
                head = f"for a, b in {self.mapping(1)}.items()"
            case 3:
                head = f"for item in {self.sequence(1)} if {self.pick(['item', 'item is string', 'not item', 'item is not none'])}"
            case _:
                head = f"for item in range({1 + self.random.below(4)})"
        self.loops += 1
        text = self.tag(head) + self.body()
        if self.chance(3):
            text += self.pick(["{{ loop.index }}", "{{ loop.cycle('x', 'y') }}", "{{ loop.previtem }}", "{{ loop.nextitem is defined }}", "{{ loop.changed(item) }}", "{{ loop.depth }}", "{{ ', ' if not loop.last }}"])
        self.loops -= 1
        if self.chance(4):
            text += self.tag("else") + self.body(2)
        return text + self.tag("endfor")

    def macro(self) -> str:
        name = f"m{len(self.macros)}"
        count = self.random.below(3)
        parameters = ["p", "q", "r"][:count]
        if count and self.chance(2):
            parameters[-1] += f"={self.value(3)}"
        loops, self.loops, macros = self.loops, 0, self.macros
        self.macros = []
        inner = self.body(2) + "".join("{{ " + p.partition("=")[0] + " }}" for p in parameters)
        if self.chance(3):
            inner += self.pick(["{{ varargs }}", "{{ kwargs }}", "{{ caller() if caller }}"])
        self.loops, self.macros = loops, [*macros, (name, count)]
        text = self.tag(f"macro {name}({', '.join(parameters)})") + inner + self.tag("endmacro")
        if "caller" in inner and self.chance(2):
            text += self.tag(f"call {name}()") + self.data() + self.tag("endcall")
        return text


def program(seed: int) -> str:
    random = Random(seed)
    return Program(random).body(4)


VARIABLE_SETS = [
    {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": " Hi\n there <|im_end|> "},
            {"role": "assistant", "content": "It's \"fine\".", "name": "bot"},
            {"role": "user", "content": "日本語?"},
        ],
        "words": ["beta", "Alpha", "gamma", "alpha", "Größe"],
        "numbers": [3, 1, 2, 3, 10],
        "data": {"role": "user", "content": "a b", "x": 1, "items": [1], "count": None, "keys": "k"},
        "nested": {"a": {"b": "deep", "c": [1, 2]}, "z": [{"y": True}]},
        "text": "Hello, World",
        "user_name": "Ann",
        "n": 3,
        "big": 9007199254740993,
        "ratio": 0.1,
        "flag": True,
    },
    {
        "messages": [{"role": "user", "content": ""}],
        "words": [],
        "numbers": [0, -1],
        "data": {},
        "nested": {},
        "text": "",
        "user_name": "<|im_start|>",
        "n": 0,
        "big": -(2**63),
        "ratio": 1e16,
        "flag": False,
        "undef": "defined here",
        "a": "outer a",
    },
    {
        "messages": [
            {"role": "user", "content": "x", "name": None},
            {"role": "tool", "content": '{"t": 1}', "name": "f"},
        ],
        "words": ["b", "a", "B", "A", ""],
        "numbers": [1.5, 2, True],
        "data": {"role": "tool", "content": "\n\n", "x": {"y": [1, {"z": "é"}]}, "name": "N"},
        "nested": {"a": {"b": [], "c": ["first"]}},
        "text": "tab\tand\nnewline \\ 'q' \"d\" 👍🏽",
        "user_name": "größe",
        "n": -2,
        "big": 2**63,
        "ratio": -2.5,
        "flag": None,
        "b": [1, 2],
    },
    {
        "messages": [{"role": "assistant", "content": "only"}, {"role": "user", "content": "0"}],
        "words": ["same", "same", "Same"],
        "numbers": [7],
        "data": {"content": "c", "count": 2.0, "x": "text", "role": "r"},
        "nested": {"a": {"b": None}},
        "text": "0x1F",
        "user_name": "U",
        "n": 100,
        "big": 2**64 - 1,
        "ratio": 1e-7,
        "flag": "yes",
        "item": "outer item",
    },
]
