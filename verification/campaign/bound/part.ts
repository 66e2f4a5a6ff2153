import type { Part } from '../part.ts'
import { CHANGES } from './changes.ts'
import { runMutations } from './mutations.ts'
import { runTargets } from './targets.ts'

/** Fields that are changed between decision and start. */
const MUTATIONS = 100_000
/** Changes of a service's data behind what was shown. */
const TARGETS = 2_000
/** How often each kind of change has to be among them. */
const LEAST = 100

/** Checks that the request sent is the one that was decided and shown: no other request is sent, and no part of it is held back. */
export const boundPart: Part = async ({ seed, minutes, say }) => {
  const endsAt = minutes === undefined ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000
  const mutations = await runMutations({ mutations: MUTATIONS, seed, endsAt })
  say(`bound: ${mutations.changed} changed fields, ${mutations.harmless} harmless ones, ${mutations.violations.length} violations`)
  const targets = await runTargets({ changes: TARGETS, seed, endsAt })
  say(`bound: ${targets.changes} changed targets, asked again ${targets.askedAgain} times, ${targets.violations.length} violations`)
  const rare = Object.keys(CHANGES).filter((name) => (mutations.byChange[name] ?? 0) < LEAST)
  return {
    violations: [...mutations.violations, ...targets.violations],
    missing: [
      ...(mutations.changed < MUTATIONS ? [`${mutations.changed} fields were changed, ${MUTATIONS} are needed`] : []),
      ...(targets.changes < TARGETS ? [`${targets.changes} targets were changed, ${TARGETS} are needed`] : []),
      ...rare.map((name) => `"${name}" was changed fewer than ${LEAST} times`),
    ],
    figures: {
      mutations: { ...mutations, violations: mutations.violations.length },
      targets: { ...targets, violations: targets.violations.length },
    },
  }
}
