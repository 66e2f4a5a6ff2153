import type { JsonObject, Principal } from '@countersign/core'
import { describe, expect, test } from 'vitest'
import { readCondition } from './condition.ts'
import { Facts } from './facts.ts'
import { CONDITION_FUNCTIONS } from './functions.ts'
import { Meter } from './meter.ts'

const somebody: Principal = { id: 'prn_ana', kind: 'person', name: 'Ana', roles: ['admin', 'finance'] }
const ARGS = {
  amount: 600,
  count: 5,
  price: 9.5,
  name: 'Ada',
  tags: ['a', 'b'],
  lines: [
    { sku: 'x', n: 1 },
    { sku: 'y', n: 2 },
  ],
  none: null,
  on: true,
}
// A Saturday.
const NOW = Date.UTC(2026, 10, 21, 22, 30)

function ask(when: string, args: JsonObject = ARGS, session: { id: string; agent: string; title: string } | null = null) {
  const read = readCondition(when)
  if ('problem' in read) return { problem: read.problem }
  const tool = { name: 'refund', group: 'shop', effect: 'write' as const, destination: 'https://shop.example' }
  return read.condition(new Facts({ tool, arguments: args, agent: 'desk', session, requester: somebody, nowMs: NOW }), new Meter())
}

describe('a condition says what people mean by it', () => {
  test.each([
    ['args.amount > 500', true],
    ['args.amount > 500.5 && args.amount < 1000', true],
    ['args.count == 5', true],
    ['args.count in [1, 5]', true],
    ['args.count * 2 + 1 == 11', true],
    ['2 * args.count == 10', true],
    ['10 != 2 * args.count', false],
    ['100 - args.count == 95', true],
    ['size(args.tags) * args.count == 10', true],
    ['1 + 2 * args.count > 10', true],
    ['100 - args.count - 5 == 90', true],
    ['args.lines.exists(line, 2 * line.n == 2)', true],
    ['2 * double(args.count) == 10', true],
    ['2 * double(args.count) in [10]', true],
    ['args.price * 2 > 18', true],
    ['args.amount / 7 > 85', true],
    ['int(args.count) % 2 == 1', true],
    ['-args.count < 0', true],
    ['args.name == "Ada"', true],
    ['args.name != "Bob"', true],
    ['args["name"] == "Ada"', true],
    ['args.name.startsWith("A") && args.name.endsWith("a")', true],
    ['args.name.contains("d")', true],
    ['args.name.fits("A*a")', true],
    ['args.name.fits("a*")', false],
    ['args.name.lowerAscii() == "ada"', true],
    ['size(args.name) == 3', true],
    ['args.tags.size() == 2', true],
    ['"a" in args.tags', true],
    ['"c" in args.tags', false],
    ['args.tags == ["a", "b"]', true],
    ['args.lines.exists(line, line.sku == "y" && line.n > 1)', true],
    ['args.lines.all(line, line.n > 0)', true],
    ['args.lines.exists_one(line, line.n == 1)', true],
    ['args.lines.filter(line, line.n > 1).size() == 1', true],
    ['args.lines.map(line, line.sku) == ["x", "y"]', true],
    ['args.lines[1].n == 2', true],
    ['has(args.amount) && !has(args.other)', true],
    ['args.none == null', true],
    ['args.on', true],
    ['!args.on', false],
    ['args.on ? args.amount > 1 : args.amount > 1000', true],
    ['args.missing == 1 || args.amount > 500', true],
    ['args.missing == 1 && args.amount < 500', false],
    ['tool.name == "refund" && tool.group == "shop" && tool.effect == "write"', true],
    ['tool.destination.startsWith("https://")', true],
    ['agent.name == "desk"', true],
    ['session == null', true],
    ['session == null || session.agent == "desk"', true],
    ['"finance" in requester.roles', true],
    ['requester.kind == "person" && requester.person == requester.id', true],
    ['now.getHours() < 8 || now.getHours() >= 18', true],
    ['now.getHours("Europe/Berlin") == 23', true],
    ['now.getDayOfWeek() in [0, 6]', true],
    ['now > timestamp("2026-01-01T00:00:00Z")', true],
    ['now + duration("2h") > timestamp("2026-11-22T00:00:00Z")', true],
  ])('%s: %s', (when, answer) => expect(ask(when)).toBe(answer))

  test('a session is null, or has what it has', () => {
    const session = { id: 'ses_1', agent: 'desk', title: 'Refund for Ada' }
    expect(ask('session.title.contains("Ada")', ARGS, session)).toBe(true)
    expect(ask('session.title.contains("Ada")')).toEqual({ failed: 'No such key: title (at character 9)' })
  })

  test('has() fails for the field of a value that cannot have one, so a deny is not passed by another type', () => {
    const failed = { failed: expect.stringContaining('has() of a value without fields') }
    for (const options of ['{"bcc":"x"}', [{ bcc: 'x' }], [], 5, true]) {
      for (const when of ['has(args.options.bcc)', '!has(args.options.bcc)', 'has(args.options.bcc) && true']) {
        expect([options, when, ask(when, { options })]).toEqual([options, when, failed])
      }
      expect(ask('args.rows.exists(row, has(row.bcc))', { rows: [options] })).toEqual(failed)
    }
    expect(ask('has(args.options.bcc)', { options: { bcc: null } })).toBe(true)
    expect(ask('has(args.options.bcc)', { options: { cc: 'x' } })).toBe(false)
    expect(ask('has(args.options.bcc)', { options: null })).toBe(false)
    expect(ask('[{"bcc": 1}].exists(row, has(row.bcc))', {})).toBe(true)
    expect(ask('has(session.id)')).toBe(false)
    expect(ask('has(args.options.bcc)', {})).toEqual({ failed: 'No such key: options (at character 5)' })
  })

  test('arguments are data, whatever they are called', () => {
    for (const key of ['constructor', 'toString', 'hasOwnProperty', 'size', 'get']) {
      expect([key, ask(`has(args.${key})`, {})]).toEqual([key, false])
      expect([key, ask(`args.${key} == "x"`, { [key]: 'x' })]).toEqual([key, true])
      expect([key, ask(`args.inner.${key} == "x"`, { inner: { [key]: 'x' } })]).toEqual([key, true])
    }
  })
})

describe('a condition that cannot be answered fails, and says why', () => {
  test.each([
    ['args.missing > 1', 'No such key: missing'],
    ['args.name > 1', 'no such overload'],
    ['args.name + 1 == 2', 'no such overload'],
    ['args.amount', 'something else than true or false'],
    ['args.tags[7] == "a"', 'No such key'],
    ['args.lines.all(line, line.weight > 1)', 'No such key: weight'],
    ['int(args.name) > 1', 'cannot convert'],
    ['1 / (int(args.count) - 5) > 1', 'division by zero'],
    ['now.getHours("Middle/Earth") > 1', 'Invalid time zone'],
    ['!args.name', 'no such overload'],
    ['args.name && true', 'bool'],
  ])('%s', (when, why) => expect(ask(when)).toEqual({ failed: expect.stringContaining(why) }))
})

// The sentence outlives a redaction of the arguments.
test.each([
  ['{"basic": 50}[args.secret] > 1', 'No such key (at character 1)'],
  ['args[args.secret] == 1', 'No such key (at character 1)'],
  ['args.lines.exists(line, {"a": 1}[line.secret] > 1)', 'No such key (at character 25)'],
  ['args.tags[int(args.large)] == "a"', 'No such key: index out of bounds (at character 1)'],
  ['int(args.large) * 9223372036854775807 > 0', 'integer overflow (at character 1)'],
  ['int(double(args.huge)) > 1', 'integer overflow (at character 1)'],
  ['bool(args.secret)', 'bool() conversion error (at character 1)'],
  ['int(args.secret) > 1', 'int() type error: cannot convert to int (at character 1)'],
  ['double(args.secret) > 1.0', 'double() type error: cannot convert to double (at character 1)'],
  ['duration(args.secret) > duration("1h")', 'Invalid duration string (at character 1)'],
  ['timestamp(args.secret) > now', 'timestamp() requires a string in ISO 8601 format (at character 1)'],
  ['now.getHours(args.secret) > 1', 'Invalid time zone'],
  ['now.getDayOfWeek(args.lines[0].secret) > 1', 'Invalid time zone'],
  ['args.secret > 1', 'no such overload: dyn<string> > int (at character 1)'],
  ['args.secret && true', "Logical operator requires bool operands, got 'string' (at character 1)"],
  ['args.secret', 'it gave something else than true or false'],
])('no failure repeats a value of the arguments: %s', (when, failed) => {
  const secret = 'Maria Muster'
  expect(ask(when, { secret, large: 4711, huge: '1e999', lines: [{ secret }], tags: ['a'] })).toEqual({ failed })
})

test('an empty text, or one that is a number in JavaScript alone, is no whole number', () => {
  for (const amount of ['', ' ', '0b11', '0o17', '0xff', '0XFF', '1_000', '+-5']) {
    expect([amount, ask('int(args.amount) <= 20', { amount })]).toEqual([
      amount,
      { failed: expect.stringContaining('cannot convert to int') },
    ])
    expect([amount, ask('int(dyn(args.amount)) <= 20 || args.amount == "x"', { amount })]).toEqual([amount, { failed: expect.any(String) }])
  }
  expect(ask('args.amount == "" || int(args.amount) <= 20', { amount: '' })).toBe(true)
  expect(ask('int("") == 0')).toEqual({ failed: expect.stringContaining('cannot convert to int') })
  for (const amount of ['5', '-5', '+5', '005', 5, 5.9]) expect([amount, ask('int(args.amount) <= 20', { amount })]).toEqual([amount, true])
})

test('a text that is a number in JavaScript alone, or NaN, is no number', () => {
  for (const amount of ['', ' ', '0x5', '0b11', '0o17', '1_000', 'NaN', 'nan', '5 EUR']) {
    expect([amount, ask('double(args.amount) <= 20.0', { amount })]).toEqual([
      amount,
      { failed: expect.stringContaining('cannot convert to double') },
    ])
  }
  for (const amount of ['5', '-5', '+5.25', '.5', '5.', '1e1', '-Infinity', '-inf', 5]) {
    expect([amount, ask('double(args.amount) <= 20.0', { amount })]).toEqual([amount, true])
  }
})

test('a text is a time as RFC 3339 has it, of a day that there is', () => {
  const wrong = [
    '2026-02-30T00:00:00Z',
    '2026-04-31T00:00:00+02:00',
    '2026-11-20T24:00:00Z',
    'November 20, 2026 10:00:00',
    '2026-11-20 10:00:00 UTC',
  ]
  for (const at of wrong) {
    expect([at, ask('timestamp(args.at) < now', { at })]).toEqual([at, { failed: expect.stringContaining('timestamp() requires') }])
  }
  for (const at of ['2024-02-29T00:00:00Z', '2026-11-21T22:29:59.999Z', '2026-11-22T00:29:00+02:00']) {
    expect([at, ask('timestamp(args.at) < now', { at })]).toEqual([at, true])
  }
})

test('a calculation that gives no number fails, so that no rule above a limit is passed by', () => {
  const failed = { failed: 'a calculation gave no number' }
  const none = { a: 0, b: 0, c: 0 }
  for (const condition of [
    'args.a / args.b > 1.0',
    'args.a / args.b <= 1.0',
    '(args.a - args.b) / args.c > 0.2',
    'args.a - args.b / args.c > 500',
  ]) {
    expect([condition, ask(condition, none)]).toEqual([condition, failed])
  }
  expect(ask('!(args.a / args.b > 20.0)', none)).toEqual(failed)
  expect(ask('args.a / args.b > 1.0', { a: 5, b: 0 })).toEqual(failed)
  expect(ask('args.a / 0 > args.b', { a: 5, b: 1 })).toEqual(failed)
  for (const endless of ['inf', '1e400']) {
    expect(ask('double(args.x) - double(args.y) > 5.0', { x: endless, y: endless })).toEqual(failed)
    expect(ask('double(args.x) * 0 > 5', { x: endless })).toEqual(failed)
    expect(ask('double(args.x) > 5.0', { x: endless })).toBe(true)
  }
  expect(ask('[1.0, 2.0].exists(n, args.a / args.b > n)', none)).toEqual(failed)
  expect(ask('args.b == 0 || args.a / args.b > 1.0', none)).toBe(true)
  expect(ask('args.a / args.b > 1.0', { a: 5, b: 2 })).toBe(true)
})

test('a text is a duration only with a number before each unit', () => {
  for (const wait of [
    's',
    '.s',
    '.h',
    '-.s',
    '1h.m',
    '5',
    's5',
    '1 h',
    'x1h',
    '1'.repeat(40_000),
    `${'1'.repeat(40_000)}s`,
    `${'ms'.repeat(49)}!`,
    'ms'.repeat(50),
  ]) {
    const said = ask('duration(args.wait) <= duration("1h")', { wait })
    expect([wait.slice(0, 9), said]).toEqual([wait.slice(0, 9), { failed: expect.stringContaining('nvalid duration string') }])
  }
  for (const wait of ['0s', '1h', '-1h', '+59m59s', '1.5m', '.5h', '5.s', '1ms2us3ns', '1µs']) {
    expect([wait, ask('duration(args.wait) <= duration("1h")', { wait })]).toEqual([wait, true])
  }
})

test('lowerAscii and upperAscii change the letters of ASCII alone', () => {
  expect(ask('args.host.lowerAscii() == "k.example"', { host: '\u212a.example' })).toBe(false)
  expect(ask('args.country.upperAscii() == "US"', { country: 'u\u017f' })).toBe(false)
  expect(ask('args.text.upperAscii() == "STRAßE"', { text: 'Straße' })).toBe(true)
  expect(ask('args.tags.map(tag, tag.lowerAscii()) == ["ä", "Äb"]', { tags: ['ä', 'ÄB'] })).toBe(true)
  expect(ask('args.count.lowerAscii() == "a"')).toEqual({
    failed: "found no matching overload for 'double.lowerAscii()' (at character 1)",
  })
})

describe('what is no condition is refused with its place', () => {
  test.each([
    ['args.amount = 1', 'write == in place of = (at character 13)'],
    ['args.amount === 1', 'write == in place of === (at character 13)'],
    ['args.amount !== 1', 'write != in place of !== (at character 13)'],
    ['args.amount <> 1', 'write != in place of <> (at character 13)'],
    ['args.amount == 1 and args.name == "a"', 'write && in place of and (at character 18)'],
    ['args.amount == 1 or args.name == "a"', 'write || in place of or (at character 18)'],
    ['args.a == 1 & args.b == 2', 'write && in place of & (at character 13)'],
    ['not args.known', 'write ! in place of not (at character 1)'],
    ['args.name is null', 'write == in place of is (at character 11)'],
    ['args.name == None', 'write null in place of None (at character 14)'],
    ['args.known == True', 'write true in place of True (at character 15)'],
    ['args.is nothing', 'Unexpected character'],
    ['args.name == “a”', 'write " in place of “ (at character 14)'],
    ['args.amount >', 'character 14'],
    ['argz.amount > 1', 'Unknown variable: argz (at character 1)'],
    ['args.amount > 1 && user.admin', 'Unknown variable: user (at character 20)'],
    ['tool.naem == "x"', 'tool has no naem; it has name, group, effect, destination (at character 6)'],
    ['session.owner == "x"', 'session has no owner'],
    ['requester.admin', 'requester has no admin'],
    ['args.name.foo()', 'foo() cannot be used in a condition'],
    ['type(args.name) == string', 'type() cannot be used in a condition (at character 1)'],
    ['bytes(args.name) == b"a"', 'bytes() cannot be used in a condition'],
    ['args.name.matches("(a+)+$")', 'matches() cannot be used in a condition: a regular expression may take forever'],
    ['args.name.split("").size() > 1', 'split() cannot be used'],
    ['args.amount > 1 && args.name.split("").size() > 1', 'split() cannot be used'],
    ['cel.bind(x, args.name, x == x)', 'bind() cannot be used'],
    ['size(1) == 1', 'overload'],
    ['1 + 1', 'gives int, not true or false'],
    ['"a"', 'gives string, not true or false'],
    ['"a" > 1', 'overload'],
    ['true && 1', 'bool'],
    [`${'('.repeat(60)}true${')'.repeat(60)}`, 'maxDepth'],
    [Array.from({ length: 300 }, () => 'true').join(' && '), 'maxAstNodes'],
  ])('%s', (when, why) =>
    expect(ask(when)).toEqual({ problem: expect.stringMatching(new RegExp(why.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&'), 'i')) }),
  )
})

describe('a condition has an end', () => {
  const numbers = Array.from({ length: 60_000 }, (_, index) => index)
  const text = 'a'.repeat(250_000)
  const keys = Object.fromEntries(numbers.slice(0, 10_000).map((n) => [`key ${n}`, n]))
  const alike = `${'a'.repeat(500)}b${'a'.repeat(500)}`
  const rows = Array.from({ length: 250 }, () => ({ cells: Array.from({ length: 250 }, (_, index) => index) }))

  test.each([
    ['a list in a list in a list', 'args.n.all(a, args.n.all(b, args.n.all(c, a + b + c > -1)))', { n: numbers }],
    ['errors for every element', 'args.n.all(a, args.n.exists(b, b.x == a))', { n: numbers }],
    ['errors that are swallowed', 'args.n.all(a, a.x || true)', { n: numbers }],
    ['lists that grow', 'args.n.map(a, args.n.map(b, args.n)).size() > 1', { n: numbers }],
    ['whole lists compared', 'args.n.all(a, args.n == args.n.map(b, b))', { n: numbers }],
    ['maps compared again and again', 'args.n.all(a, args == args || a == 1)', { n: numbers, rows }],
    ['texts looked through', 'args.n.all(a, !args.t.contains("aaaaaaab"))', { n: numbers, t: text }],
    ['keys of a map listed again and again', 'args.n.all(a, args.m.exists(key, true))', { n: numbers, m: keys }],
    ['a long text looked for in a longer one that is like it', '!args.t.contains(args.u)', { t: text.slice(0, 100_000), u: alike }],
    ['the same from its end', 'args.t.lastIndexOf(args.u) < 0', { t: text.slice(0, 100_000), u: alike }],
    ['the same as a pattern', '!args.t.fits("*" + args.u + "*")', { t: text.slice(0, 100_000), u: alike }],
    ['texts that double', 'size(args.t + args.t + args.t + args.t + args.t + args.t + args.t + args.t) > 1', { t: text }],
    ['membership of membership', 'args.n.all(a, a in args.n)', { n: numbers }],
    ['what is too long beside what is true', 'args.n.all(a, args.n.all(b, a + b > -1)) || true', { n: numbers }],
    ['time zones', 'args.n.all(a, now.getHours("Europe/Berlin") > -1)', { n: numbers }],
    ['rows and cells', 'args.rows.all(row, row.cells.all(cell, cell >= 0 || cell.x == 1))', { rows }],
  ])('%s: it fails in time', (_name, when, args) => {
    const read = readCondition(when)
    if ('problem' in read) throw new Error(read.problem)
    const tool = { name: 'refund', group: 'shop', effect: 'write' as const, destination: 'local' }
    const facts = new Facts({ tool, arguments: args as JsonObject, agent: 'desk', session: null, requester: somebody, nowMs: NOW })
    facts.values(['args'])
    const before = process.cpuUsage()
    const answer = read.condition(facts, new Meter())
    const { user, system } = process.cpuUsage(before)
    expect(answer).toEqual({ failed: 'it would take too long for arguments of this size' })
    // Processor time, because the machine may have other work: more than ten times what was measured.
    expect((user + system) / 1000).toBeLessThan(250)
  })

  test('a condition has 16,000 steps, and all conditions of a call have 160,000', () => {
    const meter = new Meter()
    for (let nth = 0; nth < 10; nth++) {
      meter.begin()
      meter.spend(16_000)
      expect(() => meter.spend(1)).toThrow('it would take too long')
    }
    meter.begin()
    expect(() => meter.spend(1)).toThrow('it would take too long')
    const thrifty = new Meter()
    thrifty.begin()
    thrifty.spend(1)
    thrifty.end()
    for (let nth = 0; nth < 9; nth++) {
      thrifty.begin()
      thrifty.spend(16_000)
      thrifty.end()
    }
    thrifty.begin()
    thrifty.spend(15_999)
    expect(() => thrifty.spend(1)).toThrow('it would take too long')
  })

  test('what people write about large arguments is answered', () => {
    expect(ask('args.path.startsWith("/etc/")', { path: '/etc/passwd', content: text })).toBe(true)
    expect(ask('args.content.contains("secret")', { content: text })).toBe(false)
    expect(ask('args.content.contains("a sentence of thirty letters")', { content: text.slice(0, 10_000) })).toBe(false)
    expect(ask('args.n.all(a, a < 1000000)', { n: numbers.slice(0, 5_000) })).toBe(true)
  })
})

test.each(Object.entries(CONDITION_FUNCTIONS))('a condition can call %s(), as its example does', (name, { example }) => {
  expect(example).toContain(`${name}(`)
  expect(ask(example)).toBe(true)
})

test('a problem has the place in the text where it was found, if it was found at one', () => {
  const problemOf = (when: string) => {
    const read = readCondition(when)
    return 'problem' in read ? read : undefined
  }
  expect(problemOf('args.what ==')).toStrictEqual({ problem: 'it ends where a value or a bracket is missing (at character 13)', at: 12 })
  expect(problemOf('1 == 1 && user.name == "x"')).toStrictEqual({ problem: 'Unknown variable: user (at character 11)', at: 10 })
  expect(problemOf('"a" + "b"')).toStrictEqual({ problem: 'gives string, not true or false' })
})
