// Operations of chat templates: expressions over values of any size, for the tests of limits. Each
// is used with small values, whose charges are recorded, and in random templates with huge ones.

/** Values with about n characters or elements. */
export const variablesOf = (n) => ({
  s: 'Ab c'.repeat(n / 4),
  lines: 'ab \n'.repeat(n / 4),
  html: '<a>&'.repeat(n / 4),
  quotes: '"\n\\\''.repeat(n / 4),
  spaces: ' '.repeat(n),
  wide: 'é😀'.repeat(n / 2),
  digits: '7'.repeat(n),
  long: `${'a'.repeat(n - 1)}b`,
  places: '%s'.repeat(n / 2),
  fields: '{0}'.repeat(n / 4),
  tabs: '\ta'.repeat(n / 2),
  l: Array.from({ length: n }, (_, i) => i),
  ls: Array.from({ length: n }, (_, i) => `x${i % 7}`),
  ld: Array.from({ length: n / 4 }, (_, i) => ({ k: `v${i % 5}`, n: i })),
  d: Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, i])),
  deep: Array.from({ length: n / 4 }, () => [[1, 'x'], { a: [null, 1.5, true] }]),
  n,
})

/** Expressions whose cost grows with their values. */
export const OPERATIONS = [
  // Filters
  'l|batch(3)|list', "[1]|batch(n,'x')|list", 's|capitalize', 's|center(2*n)', 'd|dictsort', "d|dictsort(by='value',reverse=true)", 'html|e', 'html|escape',
  'html|e|forceescape', 'l|first', "ls|map('upper')|first", "s|safe|format", "places|format(*ls[:n//2])", "'%(a)s'|format(a=s)", "ld|groupby('k')",
  "ld|groupby('n', case_sensitive=true)", 'lines|indent', "lines|indent('>'*9, true, true)", 'digits|int', 'digits|float', "digits|int(0, 16)", 'd|items|list', "l|join(',')",
  "ld|join(attribute='k')", 'l|last', 's|last', 's|length', 'wide|length', 'l|list', 's|list', 's|lower', "ls|map('length')|list", "ld|map(attribute='k')|list",
  "ld|map(attribute='q.r', default='z')|list", 'l|max', 'ls|min', "ld|max(attribute='n')", "l|reject('odd')|list", "ld|rejectattr('k','eq','v1')|list", "s|replace('b','cc')",
  "s|replace('zz','')", "s|replace('','-')", 's|reverse', 'l|reverse|list', 's|safe|reverse', "l|select('in',[1])|list", "ld|selectattr('n','gt',3)|list", 'l|slice(3)|list',
  "l|slice(n)|list", 'l|sort', 'ls|sort(reverse=true)', "ld|sort(attribute='k,n')", 'deep|string', 'l|sum', "ld|sum(attribute='n')", '[l,l]|sum(start=[])', 's|title', 'l|tojson',
  'quotes|tojson', 'quotes|tojson(ensure_ascii=true)', 'd|tojson(sort_keys=true)', 'deep|tojson(indent=8)', "d|tojson(separators=(',','::'))", 'spaces|trim', "s|trim('Ab')",
  "wide|trim('é')", 's|truncate(n//2)', 's|truncate(n//2, true)', 'ls|unique|list', 'l|unique|list', 's|upper', 'html|urlencode', 'd|urlencode', 's|wordcount', 'd|length', 'd|list', 's|attr("upper")()',
  // Methods
  's.capitalize()', 's.casefold()', "s.center(2*n,'*')", "s.count('b')", 'l.count(1)', 'l.index(n-1)', "s.endswith('x'*n)", 'tabs.expandtabs(9)', "s.find('zz')", "long.find('a'*20~'b')",
  "long.rfind('b'~'a'*20)", "s.index('b')", "s.rindex('b')", "fields.format(1)", "'{:>{}}'.format(1, n)", "'{:*^9}'.format(s)", "'{a}'.format_map({'a': s})", 's.isalnum()', 's.isalpha()', 's.isascii()',
  'digits.isdecimal()', 'digits.isdigit()', 's.isidentifier()', 's.islower()', 'digits.isnumeric()', 's.isprintable()', 'spaces.isspace()', 's.istitle()', 's.isupper()', "','.join(ls)",
  's.ljust(2*n)', 's.lower()', 'spaces.lstrip()', "s.partition('zz')", "s.removeprefix(s)", "s.removesuffix(s)", "s.replace('c','')", "s.rjust(2*n,'.')", "s.rpartition('b')", "s.rsplit('c',3)",
  'lines.rsplit(none,3)', "s.rsplit('c')", "spaces.rstrip()", "s.split('c')", 's.split()', 's.split(none,2)', 'lines.splitlines()', 'lines.splitlines(true)', "s.startswith(s)", "s.startswith(('x',s))",
  "s.strip('Ab ')", 's.swapcase()', 's.title()', 's.upper()', 'digits.zfill(2*n)', 'l.copy()', 'd.copy()', 'd.items()', 'd.keys()', 'd.values()', "d.get('k1')", 'd.get(s)',
  // Markup
  'html|safe + html', '(html|safe) * 3', "(places|safe)|format(*ls[:n//2])", "(s|safe).split()", "(s|safe).replace('b','<')", "(','|safe).join(ls)", "('{}'|safe).format(html)", "(s|safe).upper()[1:]",
  // Operators
  's + s', 's ~ l', 's * 3', '3 * l', 'l + l', "'%s' % s", "'%r' % html", "('%' ~ n ~ 'd') % 1", "'%.3s' % s", 'l == l', 'l|list == l', 'deep == deep|list', 's ~ "" == long', '(s ~ "x") == (s ~ "y")',
  's < s ~ "x"', 'l < l|list', 'd == d.copy()', 'n in l', "'zz' in s", "s in (s ~ s)", 'n not in l', "d['k1']", 's[1:]', 's[::2]', 's[::-1]', 'wide[3:]', 's[5]', 'wide[-5]', 'l[1:]', 'l[::-2]', 'ls if false else l',
  'range(n)|list', 'range(n)|last', 'range(n)[2:]|list', '(9 ** 99) * (9 ** 99)', '(9 ** 99) // 7', '9 ** 99', '-(9 ** 99)', '(9 ** 99)|string', "'%x' % (9 ** 99)", '(1.5)|round(9)', '12345|round(-2)', '1234.5|round(-2)',
  "'%.9f' % 1.5", "'%c' % 65", '{s: 1}', "{'a': l, 'b': s}", '{(1, (2, s)): 1}', 'dict(d)', 'dict(d, z=1)', 'namespace(**d)', 'namespace(d)', "strftime_now('%Y %c ' ~ s)", 'twice(l)', 'twice(d)', "('ß' * n)|upper", '[l, l, l]|map("list")|list',
  '{"a": 1}|urlencode', 'l is sameas l', 's is lower', 's is upper', "'k1' is in d", 'l is iterable', 's is eq long', 'l is ne deep', 'deep|list|string|length', 'ns', '(s,)', '[s]|string',
]

/** Statements of templates; %s is replaced by an expression. */
export const STATEMENTS = [
  '{{ %s }}', '{%% set x = %s %%}{{ x }}', '{%% set x %%}{{ %s }}{%% endset %%}{{ x }}', '{%% set x|upper %%}{{ %s }}{%% endset %%}', '{%% filter trim %%}{{ %s }}{%% endfilter %%}',
  '{%% for x in %s %%}{{ loop.index }}{{ x }}{%% endfor %%}', '{%% for x in %s if x %%}{{ loop.last }}{%% else %%}-{%% endfor %%}', '{%% if %s %%}a{%% endif %%}',
  '{%% macro m(a, b=2) %%}{{ a }}{{ varargs }}{{ kwargs }}{%% endmacro %%}{{ m(%s, 1, 2, c=3) }}', '{%% macro m() %%}{{ caller() }}{%% endmacro %%}{%% call m() %%}{{ %s }}{%% endcall %%}',
  '{%% with y = %s %%}{{ y }}{%% endwith %%}', '{%% generation %%}{{ %s }}{%% endgeneration %%}', '{%% set ns = namespace(a=%s) %%}{%% set ns.b = ns.a %%}{{ ns }}',
  '{%% for x in [1, [2, [3]]] recursive %%}{{ loop(x) if x is iterable else %s }}{%% endfor %%}', '{%% for x in %s %%}{{ loop.changed(x) }}{{ loop.cycle(1, 2) }}{{ loop.previtem }}{%% endfor %%}',
  '{%% for a, b in %s %%}{{ a }}{%% endfor %%}', '{%% print %s %%}', '{%% for x in %s %%}{%% macro q() %%}{{ x }}{%% endmacro %%}{{ q() }}{%% endfor %%}',
].map((source) => source.replaceAll('%%', '%'))
