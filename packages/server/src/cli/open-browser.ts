import { spawn } from 'node:child_process'

const OPENERS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', linux: 'xdg-open' }

/**
 * Opens a page in the person's browser when there is a terminal and a screen; otherwise, and on failure, the printed address has to
 * suffice.
 */
export function openBrowser(url: string, environment: Readonly<Record<string, string | undefined>>): void {
  const opener = OPENERS[process.platform]
  const hasScreen = process.platform === 'darwin' || environment.DISPLAY || environment.WAYLAND_DISPLAY
  if (!opener || !hasScreen || !process.stdout.isTTY) return
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}
