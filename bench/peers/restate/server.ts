import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { freePort } from '../../../verification/testing/free-port.ts'
import type { Place } from '../adapter.ts'
import { startGuarded } from '../guarded.ts'

/** Ports are kept with the data: what is in flight belongs to the address of its service. */
export interface Ports {
  node: number
  ingress: number
  admin: number
  service: number
}

async function choosePorts(file: string): Promise<Ports> {
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Ports
  const [node, ingress, admin, service] = [await freePort(), await freePort(), await freePort(), await freePort()]
  writeFileSync(file, JSON.stringify({ node, ingress, admin, service }))
  return { node, ingress, admin, service }
}

const binary = (): string => {
  const server = createRequire(import.meta.url).resolve('@restatedev/restate-server/package.json')
  const name = `@restatedev/restate-server-${process.platform}-${process.arch}`
  return join(dirname(createRequire(server).resolve(`${name}/package.json`)), 'bin', 'restate-server')
}

/** Starts the server of the npm package on a folder, with its default settings on the loopback, and waits until it answers. */
export async function startServer({
  folder,
  plainFiles = false,
}: Pick<Place, 'folder' | 'plainFiles'>): Promise<{ ports: Ports; pid: number; stop(): Promise<void> }> {
  const ports = await choosePorts(join(folder, 'ports.json'))
  const address = (port: number): string => `bind-address = "127.0.0.1:${port}"`
  const config = [
    `base-dir = "${join(folder, 'data')}"`,
    'node-name = "bench"',
    'listen-mode = "tcp"',
    'log-filter = "error"',
    'disable-telemetry = true',
    address(ports.node),
    `advertised-address = "http://127.0.0.1:${ports.node}"`,
    `[ingress]\n${address(ports.ingress)}`,
    `[admin]\n${address(ports.admin)}`,
    // The log is what is durable here; the store of the partitions is made from it.
    `[log-server]\nrocksdb-disable-wal-compression = ${plainFiles}`,
  ]
  const file = join(folder, 'restate.toml')
  writeFileSync(file, `${config.join('\n')}\n`)
  const { pid, stop } = await startGuarded([binary(), '--config-file', file, '--no-logo'], {
    cwd: folder,
    health: [`http://127.0.0.1:${ports.ingress}/restate/health`, `http://127.0.0.1:${ports.admin}/health`],
  })
  return { ports, pid, stop }
}
