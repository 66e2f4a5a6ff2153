import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import type { OwnFile } from '@countersign/toolkit'
import { foldName } from './path.ts'

/** Keeps the tools of a workspace away from the server's own files, whatever the policy allows. */
export interface Protection {
  /** Returns why this use of the path is not allowed, as a sentence; undefined when it is allowed. */
  whyNot(path: string, use: Use): string | undefined
  /** True for a path that is neither shown nor searched. */
  isSecret(path: string): boolean
  /** True when a file with several hard links is a secret of the server under another name. */
  isSecretFile(identity: string): Promise<boolean>
}

export type Use = 'read' | 'write'

/** The maximum number of files of a secret folder whose hard links are checked. */
const MAX_LINKED = 5_000
const MAX_LINK_DEPTH = 3
const MAX_LINKS_FOLLOWED = 10

/** Applies until the server has listed its own files. No tool is called before that. */
export const NO_PROTECTION: Protection = { whyNot: () => undefined, isSecret: () => false, isSecretFile: async () => false }

/** One protected file or folder, relative to the root: the folded segments of its path; empty when the root lies in it. */
interface Entry extends OwnFile {
  segments: readonly string[]
}

/**
 * Determines which paths of a workspace belong to the server. Paths are compared by their files on the disk: through links, and through
 * folders that are mounted twice.
 * @param root The real path of the workspace.
 */
export async function openProtection(root: string, files: readonly OwnFile[]): Promise<Protection> {
  const rootIdentity = await identityOf(root)
  const identities = new Map<string, string | undefined>()
  const known = async (path: string) => {
    if (!identities.has(path)) identities.set(path, await identityOf(path))
    return identities.get(path)
  }
  const rootAncestors = new Set(await Promise.all(ancestorsOf(root).map(known)))
  const entries: Entry[] = []
  const spelled = new Set<string>()
  for (const file of files) {
    for (const path of await namesOf(file.path)) {
      if (spelled.has(path)) continue
      spelled.add(path)
      const identity = await known(path)
      if (identity !== undefined && rootAncestors.has(identity)) entries.push({ ...file, path, segments: [] })
      for (const ancestor of ancestorsOf(dirname(path))) {
        if ((await known(ancestor)) !== rootIdentity) continue
        entries.push({ ...file, path, segments: relative(ancestor, path).split(/[\\/]/).map(foldName) })
      }
    }
  }
  const secrets = entries.filter(({ secret }) => secret)
  const secretPaths = files.filter(({ secret }) => secret).map(({ path }) => path)
  return {
    whyNot(path, use) {
      const segments = segmentsOf(path)
      const found =
        (use === 'read' ? secrets : entries).find((entry) => isWithin(segments, entry)) ??
        (use === 'write' ? entries.find((entry) => isOnTheWay(segments, entry)) : undefined)
      return found && sentence(path, segments.length, found)
    },
    isSecret(path) {
      const segments = segmentsOf(path)
      return secrets.some((entry) => isWithin(segments, entry))
    },
    async isSecretFile(identity) {
      for (const path of secretPaths) if (await holds(path, identity, MAX_LINK_DEPTH, { left: MAX_LINKED })) return true
      return false
    },
  }
}

const segmentsOf = (path: string): string[] => path.split('/').filter(Boolean).map(foldName)

/** True for the file or folder itself and everything in it. */
const isWithin = (path: readonly string[], { segments, family }: Entry): boolean =>
  path.length >= segments.length &&
  segments.every((segment, at) => path[at] === segment || (family && at === segments.length - 1 && path[at]?.startsWith(`${segment}.`)))

/** True for a parent folder: a file or a link in its place would remove the protected one. */
const isOnTheWay = (path: readonly string[], { segments }: Entry): boolean =>
  path.length < segments.length && path.every((segment, at) => segment === segments[at])

function sentence(path: string, length: number, { segments, what, secret }: Entry): string {
  const where = length < segments.length ? `is a folder above ${what}` : length > segments.length ? `is in ${what}` : `is ${what}`
  return `${path} ${where} of this server. No tool ${secret ? 'reads or changes' : 'changes'} it, whatever the policy allows.`
}

const ancestorsOf = (path: string): string[] => (dirname(path) === path ? [path] : [path, ...ancestorsOf(dirname(path))])

const identityOf = (path: string): Promise<string | undefined> =>
  stat(path).then(
    ({ dev, ino }) => `${dev}:${ino}`,
    () => undefined,
  )

/** Returns the paths that lead to a file: the given path, each link on the way, and its real path. */
async function namesOf(path: string): Promise<string[]> {
  const names: string[] = []
  let next = resolve(path)
  for (let followed = 0; followed <= MAX_LINKS_FOLLOWED; followed++) {
    next = join(await realFolder(dirname(next)), basename(next))
    names.push(next)
    const found = await lstat(next).catch(() => undefined)
    if (!found?.isSymbolicLink()) break
    next = resolve(dirname(next), await readlink(next))
  }
  return names
}

/** Returns the real path of a folder that may not exist: that of its existing part, plus the rest. */
async function realFolder(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined)
  if (real !== undefined || dirname(path) === path) return real ?? path
  return join(await realFolder(dirname(path)), basename(path))
}

/** True when the path, or a file in the folder, is this very file. */
async function holds(path: string, identity: string, depth: number, files: { left: number }): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (!found || files.left-- <= 0) return false
  if (!found.isDirectory()) return `${found.dev}:${found.ino}` === identity
  if (depth === 0) return false
  for (const name of await readdir(path).catch(() => [])) if (await holds(join(path, name), identity, depth - 1, files)) return true
  return false
}
