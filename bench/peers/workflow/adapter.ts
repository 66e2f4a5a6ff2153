/** Says why this system is not in the table; the packages that it needs are pinned beside this file. */
export async function open(): Promise<never> {
  throw new Error('WorkflowAgent runs only inside a server that Nitro or Next.js has compiled, and that server is not written yet')
}
