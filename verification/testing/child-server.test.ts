import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from './test-server.ts'

/** Runs a program that starts a server, and then does `then`. */
function startStarter(then: string) {
  const { path, [Symbol.dispose]: remove } = temporaryFolder()
  onTestFinished(remove)
  const configFile = join(path, 'countersign.json')
  writeFileSync(configFile, '{}')
  const program = `import { startChildServer } from ${JSON.stringify(new URL('./child-server.ts', import.meta.url).href)}
    const server = await startChildServer(${JSON.stringify({ configFile, dataDir: join(path, 'data') })})
    ${then}`
  const starter = spawn(process.execPath, ['--conditions=countersign-source', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void starter.kill('SIGKILL'))
  return starter
}

test('a server stopped by SIGSTOP is killed when the process that started it is killed', async () => {
  const starter = startStarter(`process.kill(server.pid, 'SIGSTOP')
    console.log(server.pid + ' ' + new URL(server.url).port)`)
  const [line] = await once(createInterface(starter.stdout), 'line')
  const [pid = 0, port = 0] = String(line).split(' ').map(Number)
  onTestFinished(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended, as it should.
    }
  })
  // The kernel accepts the connection for the process that stands still, and closes it when the process is gone.
  const connection = connect(port, '127.0.0.1')
  await once(connection, 'connect')
  const closed = new Promise((resolve) => connection.on('error', () => undefined).once('close', resolve))
  starter.kill('SIGKILL')
  await closed
})

test('a process whose servers have stopped ends by itself', async () => {
  expect(await once(startStarter('await server.stop()'), 'exit')).toEqual([0, null])
})
