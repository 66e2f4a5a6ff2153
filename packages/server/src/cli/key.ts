import { existsSync } from 'node:fs'
import { CreateKeyBody, isCountersignError, type Key } from '@countersign/core'
import { Command } from 'commander'
import { type Environment, readSettings } from '../config/index.ts'
import { acceptKey, createKey, drawKey, listKeys, revokeKey } from '../identity/keys.ts'
import { databaseFile, openBeside, requireExisting, type Store } from '../store/index.ts'

interface DataFlags {
  data?: string
  databaseUrl?: string
  databaseDirectUrl?: string
}

interface CreateFlags extends DataFlags {
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

const say = (line: string) => process.stdout.write(`${line}\n`)
const complain = (line: string) => process.stderr.write(`${line}\n`)

const HELP = `
Works on the data itself, so it needs no key: whoever can read the data folder or the database may give out keys. Servers may run
meanwhile; a key is good, and a revoked one ends, at once in all of them.`

/** `countersign key`: creates, lists and revokes keys, directly on the data. */
export const keyCommand = (environment: Environment): Command =>
  new Command('key')
    .description('create, list and revoke keys')
    .addHelpText('after', HELP)
    .addCommand(
      withDataFlags(new Command('create').description('create a key, which is shown only once'))
        .requiredOption('--name <name>', 'what it is for')
        .requiredOption('--kind <kind>', 'the kind of its holder: person, agent or service')
        .option(
          '--role <role...>',
          'admin, approver, viewer or a group for a person; agent for an agent or a service; monitor for a service',
        )
        .option('--scope <scope...>', 'limit it to some of: propose, decide, manage (reading is always allowed); or embed')
        .option('--embed-role <role...>', 'with --scope embed: the roles that its embed tokens may carry')
        .option('--expires-in <duration>', 'how long it is valid: an ISO 8601 duration such as P90D')
        .option('--person <id>', 'the person who owns the agent or service; or who gets a further key')
        .option('--principal <id>', 'the principal who gets a further key')
        .option('--agent <name>', 'for an agent: its name in policy and grants (default: --name)')
        .action((flags: CreateFlags) => onStore(flags, environment, (store) => create(store, flags), true)),
    )
    .addCommand(
      withDataFlags(new Command('list').description('list the keys, newest first')).action((flags: DataFlags) =>
        onStore(flags, environment, list),
      ),
    )
    .addCommand(
      withDataFlags(
        new Command('accept').description(
          'accept a key that somebody made over the API for another person, or for embed tokens, so that it may do more than read',
        ),
      )
        .argument('<id>', 'its id: key_…')
        .action((id: string, flags: DataFlags) => onStore(flags, environment, (store) => accept(store, id))),
    )
    .addCommand(
      withDataFlags(new Command('revoke').description('revoke a key at once').argument('<id>', 'its id: key_…')).action(
        (id: string, flags: DataFlags) => onStore(flags, environment, (store) => revoke(store, id)),
      ),
    )

const withDataFlags = (command: Command): Command =>
  command
    .option('--data <folder>', 'where the embedded database is (COUNTERSIGN_DATA, default ./.countersign)')
    .option('--database-url <url>', 'Postgres instead of the embedded database (DATABASE_URL)')
    .option('--database-direct-url <url>', 'the same database past a pooler in transaction mode (DATABASE_DIRECT_URL)')

/** @param mayCreate True for a command that makes sense before the first start of the server. */
async function onStore(
  flags: DataFlags,
  environment: Environment,
  work: (store: Store) => Promise<void>,
  mayCreate = false,
): Promise<void> {
  const { data, databaseUrl, databaseDirectUrl } = flags
  const { database } = readSettings({ data, databaseUrl, databaseDirectUrl }, environment)
  const isNew = database.kind === 'sqlite' && !existsSync(databaseFile(database.dataDir))
  if (isNew && !mayCreate) requireExisting(database.dataDir)
  const store = await openBeside(database)
  try {
    await work(store)
    if (isNew) complain(`There was no database in ${database.dataDir}: it was made. Servers with other data do not know this key.`)
  } catch (error) {
    throw isCountersignError(error) ? new Error(error.message) : error
  } finally {
    await store.close()
  }
}

async function create(
  store: Store,
  { name, kind, role, scope, embedRole, expiresIn, person, principal, agent }: CreateFlags,
): Promise<void> {
  const read = CreateKeyBody.safeParse({
    name,
    kind,
    roles: role,
    scopes: scope,
    embedRoles: embedRole,
    expiresIn,
    person: person ?? defaultOwner(kind),
    principal,
    agent,
  })
  if (!read.success) {
    const [issue] = read.error.issues
    throw new Error(`--${String(issue?.path[0] ?? 'name')}: ${issue?.message ?? 'is not valid'}`)
  }
  const key = drawKey()
  const made = await store.transact((outbox) => createKey({ outbox, by: null, nowMs: Date.now() }, read.data, key))
  say(key)
  complain(`It is shown only once. Key ${made.id} of ${made.principal.name} (${made.principal.id}), ${untilOf(made)}.`)
}

/** The command line has no signed-in person who could own an agent. */
const defaultOwner = (kind: string): null | undefined => (kind === 'person' ? undefined : null)

const untilOf = ({ expiresAt }: { expiresAt: string | null }): string =>
  expiresAt === null ? 'valid until it is revoked' : `valid until ${expiresAt}`

const PAGE = 200

async function list(store: Store): Promise<void> {
  let before: string | undefined
  let page: Key[]
  do {
    page = await store.read(() => listKeys({ before, limit: PAGE }))
    for (const key of page) say(lineOf(key))
    before = page.at(-1)?.id
  } while (page.length === PAGE)
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

async function accept(store: Store, id: string): Promise<void> {
  const { name, principal, acceptedAt } = await store.transact((outbox) => acceptKey(outbox, id, null, Date.now()))
  say(`Key ${id} (${name}) of ${principal.name} was accepted at ${acceptedAt}.`)
}

async function revoke(store: Store, id: string): Promise<void> {
  const { name, revokedAt } = await store.transact((outbox) => revokeKey(outbox, id, null, Date.now()))
  say(`Key ${id} (${name}) was revoked at ${revokedAt}.`)
}
