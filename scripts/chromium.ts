import { existsSync } from 'node:fs'

const SHELL = '/usr/bin/chromium-headless-shell'

// The browser that tests start. Debian's headless shell, where it is installed: it draws no window around a page, so that browser tests and
// journeys take less than half the processor time (44 of them: 80 s, not 189). Else Chromium as people have it, which
// `COUNTERSIGN_CHROMIUM=/usr/bin/chromium npm test` asks for.
process.env.COUNTERSIGN_CHROMIUM ??= existsSync(SHELL) ? SHELL : '/usr/bin/chromium'
