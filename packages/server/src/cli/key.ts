import { existsSync } from 'node:fs'
import { CreateKeyBody, isCountersignError, type Key } from '@countersign/core'
import { zodFindings } from '@countersign/toolkit/internal'
import { Command } from 'commander'
import { type Environment, readSettings } from '../config/index.ts'
import { acceptKey, createKey, drawKey, listKeys, revokeKey } from '../identity/keys.ts'
import { databaseFile, openBeside, requireExisting, type Store } from '../store/index.ts'
import type { JsonOutput } from './json-output.ts'
import { requireKnownRoles } from './key-roles.ts'
import { type DataFlags, withDataFlags } from './options.ts'
import { safeJson, say, sayJson } from './say.ts'

interface KeyFlags extends DataFlags {
  json?: true
}

interface CreateFlags extends KeyFlags {
  name: string
  kind: string
  role?: string[]
  scope?: string[]
  embedRole?: string[]
  expiresIn?: string
  person?: string
  principal?: string
  agent?: string
}

const HELP = `
Works on the data itself, so it needs no key: whoever can read the data folder or the database may give out keys. Servers may run
meanwhile; a key is good, and a revoked one ends, at once in all of them.`

const EXIT_HELP =
  '\nExit code: 0 when it is done, 1 when something went wrong; then no key was changed, or it was changed and the output was lost.'
const CREATE_EXIT_HELP =
  '\nExit code: 0 when it is done, 1 when something went wrong; then no key was made, or it was revoked because nobody got it.'

/** `countersign key`: creates, lists and revokes keys, directly on the data. */
export const keyCommand = (environment: Environment): Command =>
  new Command('key')
    .description('create, list and revoke keys')
    .addHelpText('after', HELP)
    .addCommand(
      withFlags(new Command('create').description('create a key, which is shown only once'), CREATE_EXIT_HELP)
        .requiredOption('--name <name>', 'what it is for')
        .requiredOption('--kind <kind>', 'the kind of its holder: person, agent or service')
        .option(
          '--role <role...>',
          'admin, approver, viewer, member or a group for a person; agent for an agent or a service; monitor for a service',
        )
        .option('--scope <scope...>', 'limit it to some of: propose, decide, manage (reading is always allowed); or embed')
        .option('--embed-role <role...>', 'with --scope embed: the roles that its embed tokens may carry')
        .option('--expires-in <duration>', 'how long it is valid: an ISO 8601 duration such as P90D')
        .option('--person <id>', 'the person who owns the agent or service; or who gets a further key')
        .option('--principal <id>', 'the principal who gets a further key')
        .option('--agent <name>', 'for an agent: its name in policy and grants (default: --name)')
        .option('--json', 'print one JSON object: the key with its id and its holder')
        .action((flags: CreateFlags) => createAny(flags, environment)),
    )
    .addCommand(
      withFlags(new Command('list').description('list the keys, newest first'))
        .option('--json', 'print one JSON object: {items}')
        .action((flags: KeyFlags) => onStore(flags, environment, (store) => list(store, flags))),
    )
    .addCommand(
      withFlags(
        new Command('accept').description(
          'accept a key that somebody made over the API for another person, or for embed tokens, so that it may do more than read',
        ),
      )
        .argument('<id>', 'its id: key_…')
        .option('--json', 'print the key as one JSON object, without its secret')
        .action((id: string, flags: KeyFlags) => onStore(flags, environment, (store) => accept(store, id, flags))),
    )
    .addCommand(
      withFlags(new Command('revoke').description('revoke a key at once'))
        .argument('<id>', 'its id: key_…')
        .option('--json', 'print the key as one JSON object, without its secret')
        .action((id: string, flags: KeyFlags) => onStore(flags, environment, (store) => revoke(store, id, flags))),
    )

const withFlags = (command: Command, exitHelp = EXIT_HELP): Command => withDataFlags(command).addHelpText('after', exitHelp)

/** @param onMissing Called where there is no database yet; default: throws. */
async function onStore(
  flags: KeyFlags,
  environment: Environment,
  work: (store: Store) => Promise<void>,
  onMissing: (dataDir: string) => Promise<void> | void = requireExisting,
): Promise<void> {
  const { data, databaseUrl, databaseDirectUrl } = flags
  const { database } = readSettings({ data, databaseUrl, databaseDirectUrl }, environment)
  const isNew = database.kind === 'sqlite' && !existsSync(databaseFile(database.dataDir))
  if (isNew) await onMissing(database.dataDir)
  const store = await openBeside(database)
  try {
    await work(store)
    if (isNew) note(`There was no database in ${database.dataDir}: it was made. Servers with other data do not know this key.`)
  } catch (error) {
    throw isCountersignError(error) ? new Error(error.message) : error
  } finally {
    await store.close()
  }
}

/** Prints a remark that is not part of the result. */
const note = (line: string): boolean => say(line, process.stderr)

/** Creates a key, and the database where there is none yet. */
function createAny(flags: CreateFlags, environment: Environment): Promise<void> {
  const body = readFlags(flags)
  const wanted = [...(body.roles ?? []), ...(body.embedRoles ?? [])]
  const work = async (store: Store) => {
    await requireKnownRoles(wanted, environment, store)
    await create(store, body, flags)
  }
  return onStore(flags, environment, work, () => requireKnownRoles(wanted, environment))
}

/** The flags of fields that have another name. */
const FLAGS: Readonly<Record<string, string>> = { roles: 'role', scopes: 'scope', embedRoles: 'embed-role', expiresIn: 'expires-in' }

function readFlags({ name, kind, role, scope, embedRole, expiresIn, person, principal, agent }: CreateFlags): CreateKeyBody {
  const body = {
    name,
    kind,
    roles: role,
    scopes: scope,
    embedRoles: embedRole,
    expiresIn,
    person: person ?? defaultOwner(kind),
    principal,
    agent,
  }
  const read = CreateKeyBody.safeParse(body, { reportInput: true })
  if (read.success) return read.data
  const [finding] = zodFindings(read.error)
  const field = String(finding?.path[0] ?? 'name')
  throw new Error(`--${FLAGS[field] ?? field}: ${finding?.words ?? 'is not valid'}`)
}

async function create(store: Store, body: CreateKeyBody, { json }: CreateFlags): Promise<void> {
  const key = drawKey()
  const made = await store.transact((outbox) => createKey({ outbox, by: null, nowMs: Date.now() }, body, key))
  const text = json ? safeJson({ key, ...made } satisfies JsonOutput<'key create'>) : key
  if (!(await isPrinted(`${text}\n`))) {
    // Nobody can use it, and a script that repeats the command would leave one more each time.
    await store
      .transact((outbox) => revokeKey(outbox, made.id, null, Date.now()))
      .catch((cause: Error) => {
        throw new Error(`the key could not be printed, and ${made.id} not be revoked: ${cause.message}. Revoke it`, { cause })
      })
    throw new Error(`the key could not be printed, so ${made.id} was revoked again`)
  }
  if (json) return
  note(`It is shown only once. Key ${made.id} of ${made.principal.name} (${made.principal.id}), ${untilOf(made)}.`)
}

/** Waits until the output took a text. @returns False when it is lost. */
const isPrinted = (text: string): Promise<boolean> => new Promise((resolve) => process.stdout.write(text, (error) => resolve(!error)))

/** The command line has no signed-in person who could own an agent. */
const defaultOwner = (kind: string): null | undefined => (kind === 'person' ? undefined : null)

const untilOf = ({ expiresAt }: { expiresAt: string | null }): string =>
  expiresAt === null ? 'valid until it is revoked' : `valid until ${expiresAt}`

const PAGE = 200

async function list(store: Store, { json }: KeyFlags): Promise<void> {
  const items: Key[] = []
  let before: string | undefined
  let page: Key[]
  do {
    page = await store.read(() => listKeys({ before, limit: PAGE }))
    if (json) items.push(...page)
    else for (const key of page) say(lineOf(key))
    before = page.at(-1)?.id
  } while (page.length === PAGE)
  if (json) sayJson({ items } satisfies JsonOutput<'key list'>)
}

function lineOf({ id, name, principal, revokedAt, lastUsedAt, ...key }: Key): string {
  const isUnaccepted = (principal.kind === 'person' || key.embedRoles !== null) && key.acceptedAt === null
  const state = revokedAt === null ? `${untilOf(key)}${isUnaccepted ? ', not accepted' : ''}` : `revoked ${revokedAt}`
  const gives = key.embedRoles ? [`gives ${key.embedRoles.join(', ') || 'no roles'}`] : []
  const roles = (key.roles ?? principal.roles).join(', ') || 'no roles'
  return [
    id,
    name,
    `${principal.kind} ${principal.id}`,
    roles,
    ...gives,
    state,
    lastUsedAt === null ? 'never used' : `last used ${lastUsedAt}`,
  ].join('  ')
}

async function accept(store: Store, id: string, { json }: KeyFlags): Promise<void> {
  const key = await store.transact((outbox) => acceptKey(outbox, id, null, Date.now()))
  if (json) sayJson(key)
  else say(`Key ${id} (${key.name}) of ${key.principal.name} was accepted at ${key.acceptedAt}.`)
}

async function revoke(store: Store, id: string, { json }: KeyFlags): Promise<void> {
  const key = await store.transact((outbox) => revokeKey(outbox, id, null, Date.now()))
  if (json) sayJson(key)
  else say(`Key ${id} (${key.name}) was revoked at ${key.revokedAt}.`)
}
