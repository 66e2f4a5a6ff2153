import type { Environment } from '@marcbachmann/cel-js'

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
