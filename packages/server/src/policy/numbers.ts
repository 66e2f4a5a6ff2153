import { type Environment, EvaluationError } from '@marcbachmann/cel-js'

type Calculate = (a: number, b: number) => number

const OPERATORS: Record<string, Calculate> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}

/**
 * Lets conditions mix JSON numbers, which are all `double`, with integers as people write them: `args.price * 3`. Standard CEL requires
 * `args.price * 3.0`, and a condition without the `.0` always fails.
 */
export function addNumbers(environment: Environment): void {
  for (const [operator, calculate] of Object.entries(OPERATORS)) {
    for (const [left, right] of [
      ['double', 'int'],
      ['int', 'double'],
    ]) {
      environment.registerOperator(`${left} ${operator} ${right}`, (a: number | bigint, b: number | bigint) =>
        calculate(Number(a), Number(b)),
      )
    }
  }
}

/**
 * Refuses a text that `int()` must not take: CEL knows decimal digits with a sign. The library reads it as JavaScript does, where an empty
 * text is 0 and `0b11` is 3, so a rule that allows small amounts would allow an amount that was left empty. It refuses all others itself,
 * and names their place.
 * @throws EvaluationError for such a text.
 */
export function refuseNoInteger(value: unknown): void {
  if (typeof value === 'string' && /^(?:$|0[box])/i.test(value)) {
    throw new EvaluationError('int() type error: cannot convert to int')
  }
}
