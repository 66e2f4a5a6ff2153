import type { NotOurs } from './planted-failure.ts'

/** Failures of other projects that have no counterpart here. */
export const NOT_OURS: readonly NotOurs[] = [
  {
    whose: 'vercel/ai #16543, #17358, #19964, #19979',
    failure: 'Signed approvals failed because a client dropped the signature',
    why: 'nothing that a client carries back is signed, or has to be: it names an action by its id, and the row is looked up',
  },
  {
    whose: 'CVE-2026-21852, CVE-2025-59536 (Claude Code); CVE-2025-61260 (Codex)',
    failure: 'A project’s configuration or `.env` took effect before anybody trusted it',
    why: 'the server reads one configuration, of whoever starts it; it opens no project, and reads no file of one an agent works in',
  },
]
