/** What the record and the log say of an address: paths and queries of webhooks often hold secrets of the receiver. */
export const hostOf = (url: string): string => new URL(url).host
