import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_POLICY, evaluatePolicy, matchesGlob, PolicyDocument, type PolicySubject, type Verdict } from './policy.ts'

const subject: PolicySubject = { tool: 'updateOrderStatus', group: 'shop', effect: 'write', agent: 'desk' }
const verdicts: Verdict[] = ['allow', 'ask', 'deny']
const rule = (verdict: Verdict, name: string = verdict) => ({ name, match: {}, verdict })

describe('deny beats ask beats allow', () => {
  // Which of the three kinds of rule fit → the verdict; for every order in which they may stand.
  const TRUTH: [allow: boolean, ask: boolean, deny: boolean, verdict: Verdict][] = [
    [true, false, false, 'allow'],
    [false, true, false, 'ask'],
    [true, true, false, 'ask'],
    [false, false, true, 'deny'],
    [true, false, true, 'deny'],
    [false, true, true, 'deny'],
    [true, true, true, 'deny'],
  ]

  test.each(TRUTH)('allow %s, ask %s, deny %s: %s', (allow, ask, deny, verdict) => {
    const fitting = verdicts.filter((_, at) => [allow, ask, deny][at])
    fc.assert(
      fc.property(fc.shuffledSubarray(fitting, { minLength: fitting.length }), (order) => {
        expect(evaluatePolicy({ default: 'deny', rules: order.map((one) => rule(one)) }, subject)).toEqual({ verdict, rule: verdict })
      }),
    )
  })

  test.each(['ask', 'deny'] as const)('no rule fits: the default, %s', (verdict) => {
    const rules = [{ name: 'other', match: { tool: 'other' }, verdict: 'allow' as const }]
    expect(evaluatePolicy({ default: verdict, rules }, subject)).toEqual({ verdict, rule: 'default' })
  })

  test('the first rule of the winning verdict gives its name', () => {
    const rules = [rule('allow', 'a'), rule('deny', 'first'), rule('ask', 'b'), rule('deny', 'second')]
    expect(evaluatePolicy({ default: 'ask', rules }, subject)).toEqual({ verdict: 'deny', rule: 'first' })
  })

  test('the first rule of the winning verdict says how long people may take, whatever the others say', () => {
    const timed = (name: string, expires?: string, remind?: string) => ({ ...rule('ask', name), expires, remind })
    const rules = [rule('allow'), timed('first', 'PT1H', 'PT1M'), timed('second', 'PT1S', 'PT1S')]
    expect(evaluatePolicy({ default: 'ask', rules }, subject)).toEqual({
      verdict: 'ask',
      rule: 'first',
      expiresMs: 3_600_000,
      remindMs: 60_000,
    })
    const untimed = [timed('first'), timed('second', 'PT1S', 'PT1S')]
    expect(evaluatePolicy({ default: 'ask', rules: untimed }, subject)).toEqual({ verdict: 'ask', rule: 'first' })
    expect(evaluatePolicy({ default: 'ask', rules: [...rules, rule('deny')] }, subject)).toEqual({ verdict: 'deny', rule: 'deny' })
  })

  test('a further rule never makes the verdict weaker than the rules before it', () => {
    const strength = (verdict: Verdict): number => verdicts.indexOf(verdict)
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...verdicts), { minLength: 1 }), fc.constantFrom(...verdicts), (before, added) => {
        const rules = before.map((one) => rule(one))
        const old = evaluatePolicy({ default: 'ask', rules }, subject).verdict
        const now = evaluatePolicy({ default: 'ask', rules: [...rules, rule(added)] }, subject).verdict
        expect(strength(now)).toBeGreaterThanOrEqual(strength(old))
      }),
    )
  })
})

describe('what a rule matches', () => {
  const fits = (match: object, one: PolicySubject = subject): boolean =>
    evaluatePolicy({ default: 'deny', rules: [{ name: 'r', match, verdict: 'ask' }] }, one).rule === 'r'

  test('all its conditions, not any of them', () => {
    expect(fits({ tool: 'updateOrderStatus', effect: 'write', agent: 'desk' })).toBe(true)
    expect(fits({ tool: 'updateOrderStatus', effect: 'read' })).toBe(false)
    expect(fits({ tool: 'updateOrderStatus', agent: 'other' })).toBe(false)
    expect(fits({ tool: 'other', effect: 'write' })).toBe(false)
  })

  test('a tool by its name, with or without its group', () => {
    for (const tool of ['updateOrderStatus', 'shop.updateOrderStatus', 'shop.*', 'update*', '*']) expect(fits({ tool })).toBe(true)
    for (const tool of ['UpdateOrderStatus', 'updateOrder', 'crm.*', 'shop', 'shop.', ' updateOrderStatus'])
      expect(fits({ tool })).toBe(false)
  })

  test('a call without an agent fits no rule that names one', () => {
    expect(fits({ agent: 'desk' }, { ...subject, agent: undefined })).toBe(false)
  })

  test('without a policy reads run and everything else asks', () => {
    expect(evaluatePolicy(DEFAULT_POLICY, { ...subject, effect: 'read' })).toEqual({ verdict: 'allow', rule: 'reads run' })
    expect(evaluatePolicy(DEFAULT_POLICY, subject)).toEqual({ verdict: 'ask', rule: 'default' })
  })
})

describe('a policy document', () => {
  test('may not allow by default', () => expect(PolicyDocument.safeParse({ default: 'allow' }).success).toBe(false))

  test.each([
    ['an unknown key', { rulez: [] }],
    ['an unknown key of a rule', { rules: [{ name: 'x', match: {}, verdict: 'ask', quorum: 2 }] }],
    ['an unknown condition', { rules: [{ name: 'x', match: { when: 'args.amount > 500' }, verdict: 'ask' }] }],
    ['an unknown verdict', { rules: [{ name: 'x', match: {}, verdict: 'maybe' }] }],
    ['a rule without a name', { rules: [{ match: {}, verdict: 'ask' }] }],
    ['an empty tool', { rules: [{ name: 'x', match: { tool: '' }, verdict: 'ask' }] }],
    ['a time that is no duration', { rules: [{ ...rule('ask'), expires: '1 hour' }] }],
    ['a reminder that is no duration', { rules: [{ ...rule('ask'), remind: 300 }] }],
    ['a deadline for what nobody decides', { rules: [{ ...rule('allow'), expires: 'PT1H' }] }],
    ['a reminder of what nobody decides', { rules: [{ ...rule('deny'), remind: 'PT1H' }] }],
  ])('%s is refused, never skipped', (_name, document) => expect(PolicyDocument.safeParse(document).success).toBe(false))

  test('an empty one asks for everything', () => expect(PolicyDocument.parse({})).toEqual({ default: 'ask', rules: [] }))
})

describe('a glob', () => {
  test('is exact but for its stars', () => {
    const yes = [
      ['', ''],
      ['*', ''],
      ['*', 'x'],
      ['**', ''],
      ['a*', 'a'],
      ['a*b*c', 'abc'],
      ['a*b*c', 'a.b.b.c'],
      ['*.*', 'a.b'],
      ['a*a', 'aa'],
      ['[a]?', '[a]?'],
      ['a.b', 'a.b'],
    ]
    const no = [
      ['', 'x'],
      ['a', 'A'],
      ['a*', 'ba'],
      ['*a', 'ab'],
      ['a*a', 'a'],
      ['ab*ba', 'aba'],
      ['a.b', 'axb'],
      ['a?', 'ab'],
      ['[ab]', 'a'],
      ['a*b*c', 'acb'],
      ['a', 'a\n'],
    ]
    for (const [glob = '', name = ''] of yes) expect([glob, name, matchesGlob(glob, name)]).toEqual([glob, name, true])
    for (const [glob = '', name = ''] of no) expect([glob, name, matchesGlob(glob, name)]).toEqual([glob, name, false])
  })

  // The textbook way: the places in the glob that the name read so far can have reached.
  const byPlaces = (glob: string, name: string): boolean => {
    const withStarsSkipped = (places: Set<number>): Set<number> => {
      for (const place of places) if (glob[place] === '*') places.add(place + 1)
      return places
    }
    let places = withStarsSkipped(new Set([0]))
    for (const letter of name) {
      const next = [...places].flatMap((place) => (glob[place] === '*' ? [place] : glob[place] === letter ? [place + 1] : []))
      places = withStarsSkipped(new Set(next))
    }
    return places.has(glob.length)
  }

  test('agrees with the textbook matcher', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[ab*]{0,10}$/), fc.stringMatching(/^[ab]{0,12}$/), (glob, name) => {
        expect(matchesGlob(glob, name)).toBe(byPlaces(glob, name))
      }),
      { numRuns: 5_000 },
    )
  })

  test('made to explode a backtracking matcher is answered at once', () => {
    const startedAt = performance.now()
    expect(matchesGlob(`${'a*'.repeat(5_000)}b`, 'a'.repeat(100_000))).toBe(false)
    expect(matchesGlob(`${'*a'.repeat(50)}*b`, 'a'.repeat(100_000))).toBe(false)
    expect(performance.now() - startedAt).toBeLessThan(1_000)
  })
})
