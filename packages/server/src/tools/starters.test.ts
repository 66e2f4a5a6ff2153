import { matchesGlob, PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { SOURCE_KINDS, type SourceKindName } from './source-kinds.ts'

for (const name of Object.keys(SOURCE_KINDS) as SourceKindName[]) {
  test(`the rules to start from for ${name} are a policy, let only reads run, and none of them hides behind another`, async () => {
    const { starter } = await SOURCE_KINDS[name]()
    const { rules } = PolicyDocument.parse({ rules: starter?.('x') })
    expect(rules.length).toBeGreaterThan(1)
    for (const [at, { name, match, verdict }] of rules.entries()) {
      expect(match.tool, name).toMatch(/^x\./)
      if (verdict === 'allow') expect(match.effect, name).toBe('read')
      // Of several rules that ask, the first one counts.
      const before = rules
        .slice(0, at)
        .find(
          (rule) =>
            rule.verdict === verdict && rule.match.when === undefined && rule.match.agent === undefined && covers(rule.match, match),
        )
      expect(before?.name, `comes before "${name}" and takes all it is for`).toBe(undefined)
    }
  })
}

type Match = PolicyDocument['rules'][number]['match']

const covers = (wide: Match, narrow: Match): boolean =>
  (wide.tool === undefined || matchesGlob(wide.tool, narrow.tool ?? '*')) &&
  (wide.effect === undefined || narrow.effect === undefined || wide.effect === narrow.effect)
