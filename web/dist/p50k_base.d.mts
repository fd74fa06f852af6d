export { default } from '../encoding.d.mts'
