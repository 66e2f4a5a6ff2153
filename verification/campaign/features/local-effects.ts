import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Evidence } from './cases.ts'
import { whatOf } from './people.ts'
import type { PlannedCall } from './plan.ts'

/** How often each call changed the folder or the rows of the objectives. */
export function countLocalEffects(evidence: Evidence): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of evidence.rows.actions) {
    const what = whatOf(row.arguments)
    const planned = evidence.planOf(what)
    if (planned?.kind === 'workspace') counts.set(what, onDisk(planned, evidence.workFolder))
    if (planned?.kind === 'objectives') counts.set(what, inRows(planned, row.id, evidence))
  }
  return counts
}

function onDisk({ what, tool, arguments: args }: PlannedCall, folder: string): number {
  if (tool === 'repo.createBranch') return existsSync(join(folder, '.git/refs/heads', `b-${what}`)) ? 1 : 0
  const path = join(folder, String(args.path))
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (tool === 'repo.writeFile') return text === args.content ? 1 : 0
  return text.split(what).length - 1
}

function inRows({ what, tool }: PlannedCall, actionId: string, { rows }: Evidence): number {
  const changes = rows.changes.filter(({ action_id }) => action_id === actionId).length
  if (tool !== 'goals.createObjective') return changes
  const made = rows.objectives.filter(({ title }) => title === what)
  const results = rows.keyResults.filter(({ objective_id }) => made.some(({ id }) => id === objective_id)).length
  // The row, its key result and its line of the history come together or not at all.
  return made.length === changes && results === made.length ? made.length : Math.max(2, made.length, changes)
}

/** A sentence for each file or key result that is in a state which nobody approved. */
export function checkLocalState({ rows, workFolder, planOf }: Evidence): string[] {
  const problems: string[] = []
  for (const name of readdirSync(join(workFolder, 'files'))) {
    if (name.startsWith('.')) continue
    const planned = planOf(whatOf(name))
    const text = readFileSync(join(workFolder, 'files', name), 'utf8')
    if (text !== planned?.arguments.content) problems.push(`the file ${name} holds ${text.length} characters that nobody approved`)
  }
  for (const name of readdirSync(join(workFolder, 'own'))) {
    if (name.startsWith('.')) continue
    const text = readFileSync(join(workFolder, 'own', name), 'utf8')
    const what = whatOf(name)
    if (text !== 'begin\n' && text !== `begin ${what}\n`) problems.push(`the file ${name} holds ${JSON.stringify(text)}`)
  }
  const lines = readFileSync(join(workFolder, 'shared.txt'), 'utf8').split('\n')
  if (lines.slice(-2).join('\n') !== 'END\n') problems.push('the shared file has lost its end')
  for (const line of lines.slice(0, -2)) if (planOf(line)?.kind !== 'workspace') problems.push(`the shared file holds "${line}"`)
  for (const { id, current_value } of rows.keyResults) {
    const last = rows.changes.filter(({ key_result_id, kind }) => key_result_id === id && kind === 'progress_recorded').at(-1)
    const told = last && String(JSON.parse(last.after).current)
    if (told !== undefined && told !== current_value) problems.push(`the key result ${id} is at ${current_value}, its history says ${told}`)
  }
  return problems
}
