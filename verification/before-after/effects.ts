/** The effects of the programs here, in order, and who hears of each before its tool returns. */
export const effects = {
  ran: [] as object[],
  heard: async (_effect: object): Promise<void> => {},
}

export async function carryOut<Result>(effect: object, result: Result): Promise<Result> {
  effects.ran.push(effect)
  await effects.heard(effect)
  return result
}
