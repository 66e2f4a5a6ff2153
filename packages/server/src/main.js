#!/usr/bin/env node
// This file, and all that runs before the compile cache is enabled, is JavaScript: one uncached TypeScript file makes Node load its compiler,
// which takes 15 MB and 0.1 s.
const OLDEST_NODE = 24

// Hosts of a hook take 2 for a denial. After any other failure, of an option as of this program, most of them run the call.
if (process.argv[2] === 'hook') {
  process.on('exit', (code) => {
    if (code !== 0) process.exitCode = 2
  })
}

// This runs before any import: an older Node fails at the first module that it does not have, with a stack trace.
if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  console.error(
    `Countersign needs Node ${OLDEST_NODE} or newer; this is Node ${process.versions.node}. See https://nodejs.org/en/download.`,
  )
  process.exitCode = 1
} else {
  // Both commands let it grow once they are ready.
  if (['serve', 'demo'].includes(process.argv[2] ?? '')) {
    const { keepNewSpaceSmall } = await import('./new-space.js')
    keepNewSpaceSmall()
  }
  const { keepCompiledCode } = await import('./compile-cache.js')
  keepCompiledCode()
  const { runCommand } = await import('./cli/index.ts')
  await runCommand(process.argv, process.env)
}
