import { resolve } from 'node:path'
import type { StarterRules } from '@countersign/toolkit'
import { Command } from 'commander'
import { parseDocument, stringify } from 'yaml'
import { type Environment, findConfig, loadConfig } from '../config/index.ts'
import { SOURCE_KINDS, type SourceKindName } from '../tools/index.ts'

type Rule = NonNullable<StarterRules>[number]
/** Rules with their purpose. */
type Part = { title: string; rules: readonly Rule[] }

const KINDS = Object.keys(SOURCE_KINDS) as SourceKindName[]
const isKind = (name: string): name is SourceKindName => Object.hasOwn(SOURCE_KINDS, name)

const HELP = `
Names are kinds of sources, with the group their tools are in: workspace=repo github=hub. Without a group it is called as the kind.
Without names the sources of the configuration are taken, and rules for tools that are not there are left out.
Kinds: ${KINDS.join(', ')}.

Example: countersign policy starter --config countersign.yaml > policy.yaml && countersign policy check policy.yaml

Exit code: 0 with a policy, 1 without.`

/** `countersign policy starter`: prints a policy to start from. */
export const starterCommand = (environment: Environment): Command =>
  new Command('starter')
    .description('print a policy to start from for the sources of your tools')
    .argument('[kind...]', 'kinds of sources, each with its group: workspace=repo')
    .option(
      '--config <file>',
      'take the sources of this configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)',
    )
    .addHelpText('after', HELP)
    .action(async (kinds: string[], flags: { config?: string }) => {
      process.stdout.write(await starterPolicy(kinds, flags, environment))
    })

/** Returns a policy to start from, as YAML: for these kinds, or for the sources of a configuration when no kind is named. */
export const starterPolicy = async (kinds: readonly string[], flags: { config?: string }, environment: Environment): Promise<string> =>
  writePolicy(kinds.length > 0 ? await Promise.all(kinds.map(partOf)) : await partsOfConfig(flags.config, environment))

async function partOf(written: string): Promise<Part> {
  const [kind = '', group = kind] = written.split('=')
  if (!isKind(kind)) throw new Error(`there is no kind of source ${kind} with rules to start from; there are ${KINDS.join(', ')}`)
  return { title: `${kind}, in the group ${group}`, rules: await rulesFor(kind, group) }
}

const rulesFor = async (kind: SourceKindName, group: string): Promise<readonly Rule[]> =>
  (await SOURCE_KINDS[kind]()).starter?.(group) ?? []

/** Returns the rules of every source, as far as it has tools for them. The rules at the end cover the other tools. */
async function partsOfConfig(file: string | undefined, environment: Environment): Promise<Part[]> {
  const found = file ?? environment.COUNTERSIGN_CONFIG ?? (await findConfig(resolve('.')))
  if (found === undefined) throw new Error('name kinds of sources, or a configuration with --config')
  // The shell has emptied `policy.yaml` before `policy starter > policy.yaml` reads the configuration that names it.
  const { sources, tools, close } = await loadConfig(found, environment, { ignoresPolicy: true })
  try {
    return await Promise.all(
      [...sources].map(async ([group, { kind }]) => {
        const fits = ({ match: { tool } }: Rule) => tool === undefined || tools.mayFit(tool)
        const title = `${group}: the tools of the source ${kind}`
        // The rules at the end cover a kind without its own rules.
        return { title, rules: isKind(kind) ? (await rulesFor(kind, group)).filter(fits) : [] }
      }),
    )
  } finally {
    await close()
  }
}

const HEAD = `A policy to start from. The strongest verdict wins: deny, then ask, then allow; of several rules that ask, the first one
says who is asked and how much is at stake. A call that no rule names needs approval. Check it with: countersign policy check FILE`

const REST: Rule = { name: 'other reads run', match: { effect: 'read' }, verdict: 'allow' }

function writePolicy(parts: readonly Part[]): string {
  const all = [...parts, { title: 'Every other tool: reads run, and writes need approval because of the default above', rules: [REST] }]
  const document = parseDocument(stringify({ default: 'ask', rules: all.flatMap(({ rules }) => rules) }, { lineWidth: 140 }))
  document.commentBefore = commentOf(HEAD)
  let at = 0
  for (const { title, rules } of all) {
    const node = document.getIn(['rules', at], true)
    if (rules.length > 0 && typeof node === 'object' && node !== null)
      Object.assign(node, { commentBefore: commentOf(title), spaceBefore: at > 0 })
    at += rules.length
  }
  return document.toString({ lineWidth: 140 })
}

const commentOf = (text: string): string => text.replace(/^/gm, ' ')
