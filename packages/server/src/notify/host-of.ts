/** Returns the part of a URL that the record and the log show: paths and queries of webhooks often hold secrets of the receiver. */
export const hostOf = (url: string): string => new URL(url).host
