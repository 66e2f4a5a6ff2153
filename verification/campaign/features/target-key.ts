/** What the services behind the tools are called with. */
export const KEY = 'only-for-the-campaign'
