import type { Environment } from '@marcbachmann/cel-js'

type Calculate = (a: number, b: number) => number

const OPERATORS: Record<string, Calculate> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}

/**
 * Lets the numbers of JSON, which are all `double`, be reckoned with whole numbers as people write them: `args.price * 3`. Standard CEL wants
 * `args.price * 3.0`, and whoever forgets it has a condition that always fails.
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
