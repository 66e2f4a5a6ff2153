/** The line of YAML for a rule that allows every call of a tool. Quotes of JSON are YAML's, too. */
export const allowRule = (tool: string): string =>
  `  - { name: ${JSON.stringify(`allow ${tool}`)}, match: { tool: ${JSON.stringify(tool)} }, verdict: allow }`

/** The document (YAML) with a rule that allows a tool, before the others; the document itself where it has no list of rules to add to. */
export function withAllowRule(text: string, tool: string): string {
  const line = allowRule(tool)
  return text.replace(/^rules:[ \t]*(\[\])?[ \t]*$/m, () => `rules:\n${line}`)
}
