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
 *
 * The result is `dyn`. Without a name the library takes the type on the left: `100 - args.percent == 0` would compare what is a double as an
 * integer, and never be true. `double` would refuse conditions that hold, such as `2 * double(args.count) in [10]`.
 */
export function addNumbers(environment: Environment): void {
  for (const [operator, calculate] of Object.entries(OPERATORS)) {
    for (const [left, right] of [
      ['double', 'int'],
      ['int', 'double'],
    ]) {
      environment.registerOperator(`${left} ${operator} ${right}: dyn`, (a: number | bigint, b: number | bigint) =>
        calculate(Number(a), Number(b)),
      )
    }
  }
}
