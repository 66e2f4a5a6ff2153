export { readAddress } from './address.ts'
export {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  redeliver,
  rotateSecret,
  sendTest,
  viewDelivery,
  viewWebhook,
} from './manage.ts'
export { preferencesOf } from './push/preferences.ts'
export { openPushKey, type PushKey } from './push/push-key.ts'
export { readSubscription, subscribe, viewSubscription } from './push/subscribe.ts'
export { createSender, type DeliverySender } from './sender.ts'
export { drawSecret } from './signature.ts'
