/** Starts the page and its server. */
export declare function startFrontEnd(settings: {
  port: number
  countersign: string
  key: string
}): Promise<{ url: string; close(): Promise<void> }>
