import type { PolicyDocument } from '@countersign/core'
import { expect, test } from 'vitest'
import { STORES } from '../../../../verification/testing/temp-store.ts'
import { policyVersions } from '../store/index.ts'
import { openPolicies } from './policies.ts'
import { requireUsable, seedPolicy } from './seed.ts'

const policy = (...names: string[]): PolicyDocument => ({
  default: 'ask',
  rules: names.map((name) => ({ name, match: { tool: name }, verdict: 'deny' })),
})

for (const { database, open } of STORES) {
  test(`${database}: the file makes a version when it changes, and only then; several that start make one`, async () => {
    await using it = await open()
    const { store } = it
    const versions = () => store.read(() => policyVersions.listVersions.all({ before: 1_000, limit: 100 }))
    await Promise.all([1, 2, 3].map(() => seedPolicy(store, policy('a'), 1)))
    expect(await versions()).toMatchObject([{ number: 1, in_use: 'force', source: 'file' }])
    await seedPolicy(store, policy('a'), 2)
    expect(await versions()).toHaveLength(1)
    await seedPolicy(store, policy('b'), 3)
    await seedPolicy(store, policy('a'), 4)
    expect((await versions()).map(({ number, in_use }) => [number, in_use])).toEqual([
      [3, 'force'],
      [2, null],
      [1, null],
    ])
    const policies = await openPolicies(store)
    expect(policies.current).toMatchObject({ version: 3, document: policy('a') })
    requireUsable(policies.current, { tools: { mayFit: (glob) => glob === 'a', all: () => [] }, agents: [] })
    expect(() => requireUsable(policies.current, { tools: { mayFit: (glob) => glob === 'b', all: () => [] }, agents: [] })).toThrow(
      /version 3 of the policy, which is in force, does not fit this configuration:\nrules\.0\.match\.tool: "a" fits no tool\n/,
    )
  })

  test(`${database}: a number that an undone save left to another document is not taken for the one that was seen`, async () => {
    await using it = await open()
    const { store } = it
    await seedPolicy(store, policy('a'), 1)
    const policies = await openPolicies(store)
    const undone = store.transact(function* () {
      yield* policyVersions.endUse.run({ in_use: 'force' })
      yield* policyVersions.insertVersion.run({
        number: 2,
        document: JSON.stringify(policy('undone')),
        written: null,
        digest: 'undone',
        source: 'api',
        author: null,
        reason: '',
        in_use: 'force',
        replaces: 1,
        created_at: 2,
      })
      expect((yield* policies.inForce()).document).toEqual(policy('undone'))
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await seedPolicy(store, policy('b'), 3)
    expect(await store.read(() => policies.inForce())).toMatchObject({ version: 2, document: policy('b') })
  })
}
