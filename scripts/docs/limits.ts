import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The limits that people meet, by the file and the name of the constant that holds each one. */
const LIMITS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'HTTP API': {
    'packages/server/src/http/json-body.ts MAX_BODY_BYTES': 'The body of a request.',
    'packages/server/src/http/json-body.ts MAX_BODY_VALUES': 'The values in the body of a request.',
    'packages/server/src/gate/propose/argument-size.ts MAX_ARGUMENTS_BYTES': 'The arguments of a call, proposed or as an edit.',
    'packages/server/src/http/authzen/messages.ts MOST_EVALUATIONS': 'The questions of one AuthZEN request.',
    'packages/server/src/store/tables/webhooks.ts MOST_WEBHOOKS': 'The webhooks of a server.',
    'packages/server/src/notify/push/subscribe.ts MOST_PER_PERSON':
      'The browsers of a person that are notified. One more replaces the oldest.',
    'packages/server/src/stats/actions.ts MAX_ACTIONS': 'The actions that statistics count: the newest.',
    'packages/server/src/stats/durations.ts MAX_SORTED': 'The times behind a median and a p95: the newest.',
    'packages/server/src/hooks/answer-prompt.ts LIMIT_MS': 'The wait of a permission prompt of Claude Code without hooks.',
  },
  'Grants and delegations': {
    'packages/core/src/wire/grant.ts MAX_GRANT_MS': 'The time of a grant.',
    'packages/core/src/wire/delegation.ts MAX_DELEGATION_MS': 'The time of a delegation.',
    'packages/core/src/wire/embed-token.ts EMBED_TOKEN_MAX_MS': 'The time of an embed token.',
    'packages/server/src/gate/snooze.ts MOST_MS': 'The time of a snooze.',
    'packages/server/src/policy/meter.ts MAX_PER_CONDITION': 'The steps of a condition of the policy. A condition that takes more fails.',
    'packages/server/src/policy/meter.ts MAX_PER_CALL': 'The steps of all conditions for one call.',
  },
  Tools: {
    'packages/toolkit/src/http/http-call.ts MAX_BODY_BYTES': 'The body of an answer of a route or an OpenAPI operation.',
    'packages/toolkit/src/net/send.ts MAX_HEADER_BYTES': 'The head of such an answer.',
    'packages/toolkit/src/define.ts MAX_OUTPUT_BYTES': 'The result of a tool in code.',
    'packages/toolkit/src/schema/check-steps.ts MAX_STEPS':
      'The steps of checking arguments against a JSON Schema: about one for each part of the schema that each value is held against.',
    'packages/server/src/registered/definition.ts MAX_BYTES': 'The definition of a tool that an agent registers.',
    'packages/server/src/store/tables/registered-tools.ts MOST_OF_ONE': 'The registered tools of one owner, removed ones included.',
    'packages/server/src/store/tables/registered-tools.ts MOST_OF_ALL': 'The registered tools of all owners.',
    'packages/tools-openapi/src/read-text.ts MAX_BYTES': 'All files of an OpenAPI document together.',
    'packages/tools-openapi/src/read-text.ts MAX_FILES': 'The files of an OpenAPI document.',
    'packages/tools-github/src/commit.ts MAX_CHANGES': 'The files of one `commitFiles`.',
    'packages/tools-github/src/job-log.ts MAX_FETCHED_BYTES': 'The log of a job that is downloaded.',
  },
  Workspace: {
    'packages/tools-workspace/src/reads.ts MAX_ENTRIES': 'The entries of one `listFiles`.',
    'packages/tools-workspace/src/reads.ts MAX_LINES': 'The lines of one `readFile`.',
    'packages/tools-workspace/src/reads.ts MAX_HITS': 'The hits of one `search`.',
    'packages/tools-workspace/src/reads.ts MAX_SEARCH_MS': 'The time of one `search`.',
    'packages/tools-workspace/src/git/commit.ts MAX_PATHS': 'The files of one `commit`.',
    'packages/tools-workspace/src/bounded.ts MAX_DIFF_CHARS': 'The diff of one `commit`.',
  },
  Models: {
    'packages/server/src/models/watch.ts MAX_ANSWER_BYTES': 'The stream of a model.',
    'packages/server/src/models/remote-brain.ts MAX_STREAM_BYTES': 'The stream of a remote brain.',
    'packages/server/src/models/remote-brain.ts MAX_EVENT_CHARACTERS': 'One event of a remote brain.',
    'packages/server/src/models/tool-media.ts MAX_PARTS': 'The pictures, sounds and files that are sent with a step: the newest.',
    'packages/server/src/models/tool-media.ts MAX_CHARACTERS': 'The Base64 of these parts together.',
    'packages/server/src/agent/look-ups.ts MAX_LOOK_UPS': 'The look-ups of a remote brain that are kept for one answer.',
    'packages/server/src/agent/look-ups.ts MAX_LOOK_UP_CHARACTERS': 'Each text of a look-up.',
  },
}

export interface Limit {
  group: string
  text: string
  value: string
}

/** Every limit with its value. A file `limits.ts` of a source holds public limits only: each constant needs a docstring. */
export function limits(root: string): Limit[] {
  const listed = Object.entries(LIMITS).flatMap(([group, entries]) =>
    Object.entries(entries).map(([place, text]) => {
      const [path = '', name = ''] = place.split(' ')
      const found = constantsOf(root, path).find((one) => one.name === name)
      if (!found) throw new Error(`${path} has no constant ${name}: correct scripts/docs/limits.ts`)
      return { group, text, value: found.value }
    }),
  )
  const files = globSync('packages/tools-*/src/limits.ts', { cwd: root }).sort()
  const whole = files.flatMap((path) =>
    constantsOf(root, path).map(({ docstring, value }) => ({
      group: /tools-(\w+)/.exec(path)?.[1]?.toUpperCase() ?? '',
      text: docstring,
      value,
    })),
  )
  return [...listed, ...whole]
}

const CONSTANT = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?(?:export )?const ([A-Z][A-Z_]+) = ([\d_* A-Z]+)\n/g

function constantsOf(root: string, path: string): { name: string; docstring: string; value: string }[] {
  const source = readFileSync(join(root, path), 'utf8')
  const known = new Map<string, number>()
  return [...source.matchAll(CONSTANT)].map(([, comment = '', name = '', product = '']) => {
    const number = product.split('*').reduce((total, factor) => total * (known.get(factor.trim()) ?? Number(factor.replaceAll('_', ''))), 1)
    if (Number.isNaN(number)) throw new Error(`${path}: ${name} is not a product of numbers`)
    known.set(name, number)
    return { name, docstring: comment.replace(/\s*\n?\s*\*\s*/g, ' ').trim(), value: inUnits(name, number) }
  })
}

const grouped = (number: number) => number.toLocaleString('en-US')

function inUnits(name: string, number: number): string {
  if (name.endsWith('_BYTES')) {
    const units = { MiB: 1_048_576, MB: 1_000_000, KiB: 1_024, KB: 1_000 }
    const [unit, bytes] = Object.entries(units).find(([, one]) => number % one === 0) ?? ['bytes', 1]
    return `${grouped(number / bytes)} ${unit}`
  }
  if (name.endsWith('_MS')) {
    const [days, hours] = [number / 86_400_000, number / 3_600_000]
    return days >= 1 ? `${days} days` : hours >= 1 ? (hours === 1 ? '1 hour' : `${hours} hours`) : `${grouped(number / 1_000)} s`
  }
  return /_CHAR(ACTER)?S$/.test(name) ? `${grouped(number)} characters` : grouped(number)
}

export function limitReference(root: string): string {
  const all = limits(root)
  return [...new Set(all.map(({ group }) => group))]
    .map((title) => {
      const rows = all.filter(({ group }) => group === title).map(({ text, value }) => `| ${text} | ${value} |`)
      return `## ${title}\n\n| what | at most |\n|---|---|\n${rows.join('\n')}\n`
    })
    .join('\n')
}
