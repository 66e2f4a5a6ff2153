#!/usr/bin/env node
// Starts the command of the image. Each file of /run/secrets becomes the environment variable of its name, so that no secret stands in
// the environment of the container, which `docker inspect` shows. A variable that is set already stays.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.COUNTERSIGN_SECRETS ?? '/run/secrets'

function namesIn(folder) {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

try {
  for (const name of namesIn(folder)) {
    if (!/^[A-Z][A-Z0-9_]*$/.test(name) || process.env[name] !== undefined) continue
    process.env[name] = readFileSync(join(folder, name), 'utf8').replace(/\r?\n$/, '')
  }
} catch (error) {
  console.error(`countersign: the secrets in ${folder} cannot be read (${error.code}): the user ${process.getuid()} needs to read them.`)
  process.exit(1)
}

// The program reads its arguments from process.argv, and they are the same here.
await import('../packages/server/dist/main.js')
