import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('./disk-shim.c', import.meta.url))

export interface DiskFault {
  call: 'sync' | 'write' | 'truncate'
  /** `SHORT` writes half of what was asked and says so. */
  error: 'EIO' | 'ENOSPC' | 'SHORT'
  /** Which of these calls fails first, counted from 1. */
  nth: number
  /** How many fail in a row; 0 is all from then on. */
  count: number
  /** How the name of the file ends, for example `-wal`. */
  file: string
}

export interface ShimOptions {
  /** Only files below it are looked at; not itself a link. */
  folder: string
  /** Where calls are recorded. */
  log?: string
  fault?: DiskFault
  /** Gets a line for each call that was made to fail. */
  hits?: string
}

/** Why the calls of a process cannot be recorded or made to fail here; undefined when they can. */
export function whyNoShim(): string | undefined {
  if (process.platform !== 'linux') return 'only Linux has LD_PRELOAD'
  try {
    execFileSync('cc', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'there is no C compiler (apt-get install gcc libc6-dev)'
  }
}

/** Compiles the library once per version of its source. @throws Error with what the compiler said. */
function compileShim(): string {
  const version = createHash('sha256').update(readFileSync(SOURCE)).digest('hex').slice(0, 16)
  const file = join(tmpdir(), `countersign-disk-shim-${version}.so`)
  const own = `${file}.${process.pid}`
  try {
    readFileSync(file)
  } catch {
    mkdirSync(tmpdir(), { recursive: true })
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', own, SOURCE, '-ldl', '-lpthread'], { stdio: 'pipe' })
    // Others may compile it at the same time: whoever is last replaces the file by an equal one.
    renameSync(own, file)
  }
  rmSync(own, { force: true })
  return file
}

/** The environment variables that make a process record its calls or fail them. */
export function shimEnvironment({ folder, log, fault, hits }: ShimOptions): Record<string, string> {
  return {
    LD_PRELOAD: compileShim(),
    SHIM_FOLDER: folder,
    // libuv could hand its calls to the kernel without coming by the C library.
    UV_USE_IO_URING: '0',
    ...(log !== undefined && { SHIM_LOG: log }),
    ...(hits !== undefined && { SHIM_HITS: hits }),
    ...(fault && { SHIM_FAIL: [fault.call, fault.error, fault.nth, fault.count, fault.file].join(':') }),
  }
}
