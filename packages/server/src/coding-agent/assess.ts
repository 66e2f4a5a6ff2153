import type { JsonObject, RiskLevel } from '@countersign/core'
import type { ShellReading } from './shell/read-command.ts'

export interface Assessment {
  level: RiskLevel
  reasons: string[]
}

/** High risk is never granted for later calls: a command that cannot be parsed needs approval each time. */
export function assessShell({
  understood,
  unclear,
  deletes,
  privileged,
  outside,
  writes,
  inlineCode,
  network,
  substitutes,
  readOnly,
}: ShellReading): Assessment {
  const high = [
    ...(understood ? [] : [`cannot be read: ${unclear.join('; ')}`]),
    ...(deletes ? ['deletes or overwrites'] : []),
    ...(privileged ? ['uses or changes rights'] : []),
    ...(outside.length > 0 ? [`reaches outside the folder: ${outside.join(', ')}`] : []),
    ...(inlineCode ? ['runs a program in another language, which is not read'] : []),
  ]
  const medium = [
    ...(network ? ['reaches the network'] : []),
    ...(writes.length > 0 ? [`writes ${writes.join(', ')}`] : []),
    ...(substitutes ? ['uses the output of one command in another'] : []),
  ]
  if (high.length > 0) return { level: 'high', reasons: [...high, ...medium] }
  if (readOnly) return { level: 'low', reasons: ['only prints what it reads, in the folder'] }
  return { level: 'medium', reasons: medium.length > 0 ? medium : ['runs a program'] }
}

/**
 * Files that decide what runs later, here or elsewhere: settings of agents, hooks and the configuration of this server among them. In any
 * case: some file systems do not tell.
 */
const DECIDES =
  /(^|\/)(\.countersign|countersign\.(config\.ts|ya?ml|json)|policy\.ya?ml|\.git|\.github|\.gitlab-ci\.yml|\.husky|\.claude|\.codex|\.copilot|\.cursor|\.gemini|\.opencode|opencode\.jsonc?|\.vscode|\.(ba|z)?sh(rc|env)|\.?profile|Dockerfile|Makefile|package\.json)(\/|$)/i

export const decidesLater = (path: string): boolean => DECIDES.test(path)

export function assessFile({ path, files, outside, sensitive }: JsonObject, verb: string): Assessment {
  const paths = Array.isArray(files) ? files.map(String) : [String(path ?? '')]
  const reasons = [
    ...(paths.length === 0 ? [`${verb} files that cannot be read from it`] : []),
    ...(outside === true ? [`${verb} outside the folder`] : []),
    ...(sensitive === true ? [`${verb} a file that usually holds secrets`] : []),
    ...(verb !== 'reads' && paths.some(decidesLater) ? [`${verb} a file that decides what runs later`] : []),
  ]
  if (reasons.length > 0) return { level: 'high', reasons }
  return verb === 'reads' ? { level: 'low', reasons: ['reads only, in the folder'] } : { level: 'medium', reasons: [`${verb} files`] }
}
