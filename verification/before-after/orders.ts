/** The order system behind the tool of each program here. */
export interface Orders {
  setStatus(input: { order: string; status: string }): Promise<object>
}
