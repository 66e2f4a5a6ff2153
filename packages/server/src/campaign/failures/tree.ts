import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { applyPatch, type Patch } from '../patch.ts'

/** Of the repository that this file is in. */
const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url))
/** Made anew where they are needed, or linked. */
const LEFT_OUT = new Set(['node_modules', 'dist', '.git', 'test-results'])

/** A copy of the sources in a place of its own, in which tests run. */
export interface Tree extends AsyncDisposable {
  root: string
  /** Changes sources; answers what puts them back. */
  plant(patches: readonly Patch[]): Promise<() => Promise<void>>
}

export async function copyTree(): Promise<Tree> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-failures-'))
  const root = join(folder, 'repository')
  await cp(ROOT, root, { recursive: true, filter: (path) => path === ROOT || !LEFT_OUT.has(basename(path)) })
  await linkModules(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  // The recordings of other projects stand beside the repository.
  const shared = join(dirname(ROOT.replace(/\/$/, '')), 'shared')
  if (existsSync(shared)) await symlink(shared, join(folder, 'shared'))
  return {
    root,
    async plant(patches) {
      const kept = new Map<string, string>()
      for (const patch of patches) {
        const path = join(root, patch.file)
        const text = await readFile(path, 'utf8')
        if (!kept.has(path)) kept.set(path, text)
        await writeFile(path, applyPatch(text, patch))
      }
      return async () => {
        for (const [path, text] of kept) await writeFile(path, text)
      }
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** What is installed is shared; our own packages, which are links there, lead into the copy. */
async function linkModules(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else if (entry.name === '@countersign') await linkModules(source, target)
    else if (!entry.name.startsWith('.vite')) await symlink(source, target)
  }
}
