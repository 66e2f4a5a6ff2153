import { closeSync, existsSync, mkdirSync, openSync, readFileSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { replaceDurableFile } from '../../durable-files.ts'
import { gitignoreWith, type StarterFile } from './starter.ts'

/**
 * Writes the files and the lines of `.gitignore`. When one cannot be written, those before it are removed again.
 * @throws Error of the file system.
 */
export function writeStarter(files: readonly StarterFile[], folder: string): void {
  const undo: (() => void)[] = []
  try {
    for (const { path, content } of files) {
      const file = join(folder, path)
      makeFolder(dirname(file), undo)
      // Fails if the file was created meanwhile.
      const descriptor = openSync(file, 'wx')
      // Before it has content: on a full disk a part of it stays.
      undo.push(() => rmSync(file))
      try {
        writeFileSync(descriptor, content)
      } finally {
        closeSync(descriptor)
      }
    }
    writeGitignore(join(folder, '.gitignore'))
  } catch (error) {
    for (const step of undo.reverse()) step()
    throw error
  }
}

function makeFolder(folder: string, undo: (() => void)[]): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder), undo)
  mkdirSync(folder)
  undo.push(() => rmdirSync(folder))
}

function writeGitignore(file: string): void {
  const content = gitignoreWith(existsSync(file) ? readFileSync(file, 'utf8') : '')
  if (content !== undefined) replaceDurableFile(existsSync(file) ? realpathSync(file) : file, content, 0o666)
}
