import { type ChildProcess, spawn } from 'node:child_process'
import { Socket } from 'node:net'

// Reads `+ pid` and `- pid` until its standard input closes, which it also does when its writer is killed, then kills what is left. Ctrl-C
// in a terminal, which every process of the group receives, does not end it.
const REAPER = `
  trap '' INT TERM HUP
  pids=' '
  while read -r sign pid; do
    if [ "$sign" = + ]; then pids="$pids$pid "; else pids="\${pids%% $pid *} \${pids#* $pid }"; fi
  done
  kill -KILL $pids 2>/dev/null`

let reaper: ChildProcess | undefined

/** Kills a child process when this process ends, even by SIGKILL. It also works for a child that is stopped by SIGSTOP. */
export function killWithParent(child: ChildProcess): void {
  const { pid } = child
  if (pid === undefined) return
  reaper ??= startReaper()
  reaper.stdin?.write(`+ ${pid}\n`)
  // Later another process may have its number.
  child.once('exit', () => reaper?.stdin?.write(`- ${pid}\n`))
}

/** A process of its own group: what kills the group of this one spares it. */
function startReaper(): ChildProcess {
  const started = spawn('sh', ['-c', REAPER], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  started.unref()
  if (started.stdin instanceof Socket) started.stdin.unref()
  started.stdin?.on('error', () => undefined)
  return started
}
