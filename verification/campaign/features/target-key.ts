/** The key for the services behind the tools. */
export const KEY = 'only-for-the-campaign'
