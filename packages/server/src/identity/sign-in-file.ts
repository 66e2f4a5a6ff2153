import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** The data of a running server that `countersign sign-in` reads. */
const SignInFile = z.object({
  /** Where browsers find the console of this server. */
  origin: z.string(),
  /** The secret that creates sign-in links. */
  secret: z.string(),
})
export type SignInFile = z.infer<typeof SignInFile>

const NAME = /^sign-in-(\d{1,5})\.json$/

/** Returns the file's name, one per server: several servers may share a folder. */
const signInFile = (dataDir: string, port: number): string => join(dataDir, `sign-in-${port}.json`)

/**
 * Writes the file of a server that has just started, readable by its owner only (0600), in place of an earlier server's file.
 * @throws Error when the folder cannot be written to.
 */
export function writeSignInFile(dataDir: string, port: number, content: SignInFile): string {
  const file = signInFile(dataDir, port)
  const partial = `${file}.${process.pid}.partial`
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  rmSync(partial, { force: true })
  // A new file and a rename: an existing file would keep its mode, and a link would be followed.
  writeFileSync(partial, `${JSON.stringify(content)}\n`, { mode: 0o600, flag: 'wx' })
  renameSync(partial, file)
  return file
}

/** Removes the file, unless another server has written its own since. */
export function removeSignInFile(file: string, secret: string): void {
  if (readFile(file)?.secret === secret) rmSync(file, { force: true })
}

/** Returns the servers that wrote a file in this folder, by port. A server that was killed leaves its file behind. */
export function readSignInFiles(dataDir: string): ({ port: number } & SignInFile)[] {
  return namesIn(dataDir)
    .flatMap((name) => {
      const port = NAME.exec(name)?.[1]
      const content = port === undefined ? undefined : readFile(join(dataDir, name))
      return content ? [{ port: Number(port), ...content }] : []
    })
    .sort((a, b) => a.port - b.port)
}

/** @throws Error when the folder or a file in it may not be read: it belongs to another user. */
function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function readFile(file: string): SignInFile | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    return SignInFile.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
