/** The rule that an action is declined by without anybody being asked, because people declined the same call before. */
export const EARLIER_DENIAL = 'declined before'
