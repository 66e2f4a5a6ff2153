import { type ASTNode, type Environment, EvaluationError } from '@marcbachmann/cel-js'
import { charge, type Meter, type Use, usesOf } from './meter.ts'
import { calledName } from './own-names.ts'

/** The macro that is put around every part of an expression: `cs_part(7, args.amount)`. A condition cannot name it. */
const MACRO = 'cs_part'

/** The parts of the expression that is being parsed, by the number in the macro. */
let parts: readonly Use[] = []
// Evaluation is synchronous, so only one condition runs at a time.
let running: Meter | undefined

function runningMeter(): Meter {
  if (!running) throw new Error('a condition is evaluated with a meter')
  return running
}

/** The documented part of the value that the evaluator passes to a macro. */
interface Macro {
  use: Use
  part: ASTNode
}

/** The function that refuses what has no fields, in front of each `has()`. */
const FIELDS = 'cs_fields'

/**
 * True for an object, and for null: `has(session.id)` of a call without a session is false. The library finds no field in a text or list
 * either, and takes it for absent, so a deny of `has(args.options.bcc)` would be passed by the same options as a JSON text.
 */
function mayHaveFields(value: unknown): boolean {
  const isObject = value instanceof Map || (typeof value === 'object' && value !== null && value.constructor === Object)
  if (value === null || isObject) return true
  throw new EvaluationError('has() of a value without fields')
}

/** Adds the macro to an environment, and what a metered expression calls. */
export const addMetering = (environment: Environment): Environment =>
  environment
    .registerFunction(`${FIELDS}(dyn): bool`, mayHaveFields)
    .registerFunction(`${MACRO}(ast, ast): dyn`, ({ args: [number, part] }: { args: [ASTNode, ASTNode] }) => ({
      use: parts[Number(number.args)],
      part,
      typeCheck: (checker: { check(node: ASTNode, context: unknown): unknown }, macro: Macro, context: unknown) =>
        checker.check(macro.part, context),
      evaluate: (evaluator: { run(node: ASTNode, context: unknown): unknown }, macro: Macro, context: unknown) =>
        charge(runningMeter(), macro.use, () => evaluator.run(macro.part, context)),
    }))

/** An expression that charges a meter for every part. */
export interface MeteredExpression {
  /** Evaluates it. @throws what the evaluator throws. */
  run(values: ReadonlyMap<string, unknown>, meter: Meter): unknown
  /** Returns the position in the written expression for one in the metered text. */
  positionOf(metered: number): number
}

/**
 * Makes a metered expression of a parsed one. The library documents macros but no way into its nodes, so the expression is written again with
 * the macro around each part, and parsed a second time.
 * @param environment With {@link addMetering}.
 * @param text What the parsed expression was parsed from.
 */
export function meterExpression(environment: Environment, ast: ASTNode, text: string): MeteredExpression {
  const writer = new Writer(usesOf(ast, runningMeter), text)
  writer.write(ast)
  parts = writer.parts
  const expression = environment.parse(writer.text)
  parts = []
  return {
    run(values, meter) {
      running = meter
      return expression(values)
    },
    positionOf: (metered) => writer.places.findLast(({ at }) => at <= metered)?.start ?? 0,
  }
}

const UNSIGNED = /^\d[\da-fx]*u$/i
/** The largest number without a `u`. */
const MAX_INT = 2n ** 63n - 1n

/** Writes an expression with the macro around every part that is charged, and where each part was written. */
class Writer {
  text = ''
  readonly parts: Use[] = []
  readonly places: { at: number; start: number }[] = []
  readonly #uses: ReadonlyMap<ASTNode, Use>
  readonly #written: string

  constructor(uses: ReadonlyMap<ASTNode, Use>, written: string) {
    this.#uses = uses
    this.#written = written
  }

  write(node: ASTNode): void {
    const use = this.#uses.get(node)
    this.places.push({ at: this.text.length, start: node.start })
    if (!use) {
      this.#copy(node)
      return
    }
    this.text += `${MACRO}(${this.parts.push(use) - 1}, `
    this.places.push({ at: this.text.length, start: node.start })
    this.#inner(node)
    this.text += ')'
  }

  // The library's `serialize` would round 1e-10 to 0 and write 1e300 and emoji in a way that its parser refuses.
  #copy({ start, end }: ASTNode): void {
    this.text += this.#written.slice(start, end)
  }

  /** Writes `22u` as `22`: the library finds no number in a list of unsigned ones, while it takes 22 and 22u for equal. */
  #value(node: ASTNode): void {
    const written = this.#written.slice(node.start, node.end)
    const isUnsigned = UNSIGNED.test(written) && BigInt(written.slice(0, -1)) <= MAX_INT
    this.text += isUnsigned ? written.slice(0, -1) : written
  }

  // Not `&&`, which is false without an error where its other side is false.
  #has(call: ASTNode, path: ASTNode | undefined): void {
    if (path?.op !== '.') {
      this.#copy(call)
      return
    }
    this.text += `${FIELDS}(`
    this.write(path.args[0])
    this.text += ') ? has('
    this.write(path)
    this.text += ') : false'
  }

  #inner(node: ASTNode): void {
    switch (node.op) {
      case 'value':
        this.#value(node)
        return
      case 'id':
        this.#copy(node)
        return
      case '.':
      case '.?':
        this.write(node.args[0])
        this.text += node.op
        // An error about a member names the place of its name.
        this.places.push({ at: this.text.length, start: node.end - node.args[1].length })
        this.text += node.args[1]
        return
      case '[]':
      case '[?]':
        this.write(node.args[0])
        this.text += node.op === '[]' ? '[' : '[?'
        this.write(node.args[1])
        this.text += ']'
        return
      case 'call':
        if (node.args[0] === 'has') {
          this.#has(node, node.args[1][0])
          return
        }
        this.text += `${node.args[0]}(`
        this.#list(node.args[1])
        this.text += ')'
        return
      case 'rcall':
        this.write(node.args[1])
        this.text += `.${calledName(node.args[0])}(`
        this.#list(node.args[2])
        this.text += ')'
        return
      case 'list':
        this.text += '['
        this.#list(node.args)
        this.text += ']'
        return
      case 'map':
        this.text += '{'
        for (const [i, [key, value]] of node.args.entries()) {
          if (i > 0) this.text += ', '
          this.write(key)
          this.text += ': '
          this.write(value)
        }
        this.text += '}'
        return
      case '?:':
        this.write(node.args[0])
        this.text += ' ? '
        this.write(node.args[1])
        this.text += ' : '
        this.write(node.args[2])
        return
      case '!_':
      case '-_':
        this.text += node.op[0]
        this.write(node.args)
        return
      default:
        this.write(node.args[0])
        this.text += ` ${node.op} `
        this.write(node.args[1])
    }
  }

  #list(nodes: readonly ASTNode[]): void {
    for (const [i, node] of nodes.entries()) {
      if (i > 0) this.text += ', '
      this.write(node)
    }
  }
}
