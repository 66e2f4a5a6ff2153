import { resolve } from 'node:path'
import { Command } from 'commander'
import { type Environment, readSettings, type Settings } from '../config/index.ts'
import { readSignInFiles, type SignInFile } from '../identity/sign-in-file.ts'
import { mintLinkToken, signInLink } from '../identity/sign-in-links.ts'
import type { JsonOutput } from './json-output.ts'
import { openBrowser } from './open-browser.ts'
import { ownCommand, quoted } from './own-command.ts'
import { say, sayJson } from './say.ts'

const ANSWERS_WITHIN_MS = 5_000

const HELP = `
The link works once, for ten minutes, on the machine of the server. It is made with a secret that the server writes at every start to
sign-in-<port>.json in its data folder, readable by the user who started it and by nobody else. With Postgres the file is there too:
the data folder is ./.countersign unless COUNTERSIGN_DATA or --data says otherwise. Servers that people reach at a public address, through
a trusted proxy or with a sign-in service have no such file: there people sign in with a key or with the service.

Exit code: 0 with a link, 1 without.`

interface SignInFlags {
  data?: string
  port?: string
  open: boolean
  json?: true
}

/** `countersign sign-in`: prints a new sign-in link for the person at this machine. */
export const signInCommand = (environment: Environment): Command =>
  new Command('sign-in')
    .description('print a link that signs you in at the console of a server on this machine')
    .option('--data <folder>', 'data folder of the server (COUNTERSIGN_DATA, default ./.countersign)')
    .option('--port <number>', 'port of the server, when several share the folder')
    .option('--no-open', 'do not open the browser')
    .option('--json', 'print one JSON object, {link}, and open no browser')
    .addHelpText('after', HELP)
    .action(async ({ data, port, open, json }: SignInFlags) => {
      const { dataDir } = readSettings({ data }, environment)
      const { origin, secret } = await findServer(dataDir, port)
      const link = signInLink(origin, mintLinkToken(secret, Date.now()))
      if (json) return void sayJson({ link } satisfies JsonOutput<'sign-in'>)
      say(link)
      if (open) openBrowser(link, environment)
    })

/** @throws Error that says where no server was found and what to do. */
async function findServer(dataDir: string, port: string | undefined): Promise<SignInFile> {
  const folder = resolve(dataDir)
  const written = readFiles(folder).filter((one) => port === undefined || String(one.port) === port)
  const running = (await Promise.all(written.map(async (one) => ((await answers(one)) ? [one] : [])))).flat()
  const [first, ...others] = running
  if (first === undefined) {
    const which = port === undefined ? 'no server' : `no server on port ${port}`
    throw new Error(
      `${which} that signs people in on this machine is running with the data folder ${folder}: start it, or name its folder with --data. ` +
        'With a public address, a trusted proxy or a sign-in service there are no links: use a key or that service',
    )
  }
  if (others.length > 0) {
    throw new Error(`servers on the ports ${running.map((one) => one.port).join(', ')} use this data folder: choose one with --port`)
  }
  return first
}

function readFiles(folder: string) {
  try {
    return readSignInFiles(folder)
  } catch (cause) {
    throw new Error(
      `the sign-in file in ${folder} cannot be read: ${cause instanceof Error ? cause.message : cause}. ` +
        'Run this command as the user who started the server',
      { cause },
    )
  }
}

/** Returns true when a server answers there. No secret is sent: the link is created here. */
async function answers({ origin }: SignInFile): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/healthz`, { redirect: 'manual', signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) })
    await response.body?.cancel()
    return true
  } catch {
    return false
  }
}

/**
 * Returns the command that prints another link for the server with these settings. It names the folder, because the command would otherwise
 * look in that of its environment.
 * @param program How this command is run here.
 */
export const signInCommandLine = ({ dataDir }: Pick<Settings, 'dataDir'>, program = ownCommand(import.meta.filename)): string =>
  `${program} sign-in --data ${quoted(resolve(dataDir))}`

/** Tells the person who started a server how to sign in. */
export function sayLink(link: string, settings: Pick<Settings, 'dataDir'>, program?: string): void {
  say(`  Sign in       ${link}`)
  say(`                The link works once, for ten minutes. For another one: ${signInCommandLine(settings, program)}`)
}
