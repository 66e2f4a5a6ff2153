import { documentsOf, howItOpens, SPECS } from './run-documents.ts'

/** How every published document at hand opens, as the lines of a table of documents.md: those with one reason together. */
export async function tableOfDocuments(): Promise<string> {
  const whole: string[] = []
  const byReason = new Map<string, string[]>()
  const put = (reason: string, document: string) => byReason.set(reason, [...(byReason.get(reason) ?? []), document])
  for (const document of documentsOf(SPECS)) {
    const opened = await howItOpens(document)
    if (opened.refused !== undefined) put(`refused: ${opened.refused}`, document)
    else if (opened.leftOut.length > 0) for (const reason of opened.leftOut) put(`left out: ${reason}`, document)
    else whole.push(document)
  }
  const rows = [...byReason].map(
    ([reason, documents]) => `| ${reason.replaceAll('|', '\\|')} | ${documents.map((name) => `\`${name}\``).join(', ')} |`,
  )
  return [`${whole.length} open whole. The others:`, '', '| why not (whole) | document |', '|---|---|', ...rows, ''].join('\n')
}
