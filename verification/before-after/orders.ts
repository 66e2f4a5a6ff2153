import { carryOut } from './effects.ts'

/** The order system behind the tool of the programs that we wrote. */
export interface Orders {
  setStatus(input: { order: string; status: string }): Promise<object>
}

export const orders: Orders = {
  setStatus: ({ order, status }) => carryOut({ order, status }, { done: status }),
}
