import { execFile } from 'node:child_process'

/** Why nothing can run as another user of this machine; undefined when it can. */
export const whyNoOtherUser: string | undefined = process.getuid?.() === 0 ? undefined : 'only root can become another user'

/** How a command of another user ended, and what it wrote. */
interface Ended {
  code: unknown
  stdout: string
  stderr: string
}

/** Runs a command as the user `nobody`, without groups. */
export const asOtherUser = (...command: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const user = ['--reuid=65534', '--regid=65534', '--clear-groups', '--']
    execFile('setpriv', [...user, ...command], (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }))
  })

/** Posts JSON to a server of this machine with the means of a shell, as that user; answers what came back, head and all. */
export async function postAsOtherUser(port: string, path: string, body: string): Promise<{ status: number; text: string }> {
  const request = [
    ...[`POST ${path} HTTP/1.1`, `Host: localhost:${port}`, `Origin: http://localhost:${port}`],
    ...['Content-Type: application/json', `Content-Length: ${body.length}`, 'Connection: close', '', body],
  ].join('\\r\\n')
  const script = `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '${request}' >&3; cat <&3`
  const { stdout } = await asOtherUser('bash', '-c', script)
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(stdout)?.[1]), text: stdout }
}
