/** The page of a tool. A name that an agent or a server chose may hold half a character, which no address can. */
export const toolPath = (name: string): string => `/tools/${encodeURIComponent(name.toWellFormed())}`
