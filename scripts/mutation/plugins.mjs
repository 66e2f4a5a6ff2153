import { appendFileSync } from 'node:fs'

const note = (line) => appendFileSync(process.env.COUNTERSIGN_MUTATION_RESULTS, `${JSON.stringify(line)}\n`)

/**
 * Writes every result as one line of JSON as it comes, so that a run that is stopped early keeps what it found. The file is named by
 * COUNTERSIGN_MUTATION_RESULTS.
 */
class LinesReporter {
  onMutationTestingPlanReady({ mutantPlans }) {
    note({ planned: mutantPlans.length })
  }

  onMutantTested({ fileName, mutatorName, replacement, status, location }) {
    if (status === 'Ignored') return
    note({ file: fileName, mutator: mutatorName, replacement, status, location })
  }
}

const isCheckpoint = (node) => node?.type === 'CallExpression' && node.callee.name === 'checkpoint'

/**
 * Leaves texts for people alone: a test that pins every sentence would pin the source. States, columns and kinds are mutated. Checkpoints are
 * moments for tests and do nothing else.
 */
class SentenceIgnorer {
  shouldIgnore({ node }) {
    if (isCheckpoint(node) || (node.type === 'ExpressionStatement' && isCheckpoint(node.expression))) return 'a checkpoint'
    const isSentence = (text) => /\s/.test(text)
    if (node.type === 'StringLiteral' && isSentence(node.value)) return 'a sentence'
    if (node.type === 'TemplateLiteral' && node.quasis.some(({ value }) => isSentence(value.raw))) return 'a sentence'
    return undefined
  }
}

export const strykerPlugins = [
  { kind: 'Reporter', name: 'lines', injectableClass: LinesReporter },
  { kind: 'Ignore', name: 'sentences', injectableClass: SentenceIgnorer },
]
