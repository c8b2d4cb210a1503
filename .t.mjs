import WebSocket from 'ws'
const B='http://127.0.0.1:8099'
let n=1
const j=async(m,p,b,t)=>{const s=performance.now();const r=await fetch(B+p,{method:m,body:b&&JSON.stringify(b),headers:{...(t&&{authorization:'Bearer '+t}),'x-forwarded-for':'127.0.0.'+(n++)}});const x=await r.text();console.log(m,p,r.status,x.slice(0,300),(performance.now()-s).toFixed(0)+'ms');return JSON.parse(x)}
await j('GET','/api/health')
await j('POST','/api/auth/login',{username:'alice',password:'Alice-pw-1'})
const {access_token:t}=await j('POST','/api/auth/login',{username:'bob',password:'Bob-pw-1'})
await j('GET','/api/auth/me',undefined,t)
await j('GET','/api/updates/targets',undefined,t)
await j('GET','/api/updates/packages?target=host',undefined,t)
await j('GET','/api/updates/packages?target=lxc:101',undefined,t)
await j('GET','/api/updates/packages?target=lxc:103',undefined,t)
await j('GET','/api/updates/packages?target=foo',undefined,t)
await j('GET','/api/updates/packages',undefined,t)
await j('GET','/api/updates/history',undefined,t)
await j('POST','/api/updates/run',{},t)
const {job_id}=await j('POST','/api/updates/run',{target:process.argv[2]??'lxc:101'},t)
const ws=new WebSocket('ws://127.0.0.1:8099/ws/updates/'+job_id,['panel.v1','bearer.'+t])
let frames=0,text='';ws.on('message',m=>{const e=JSON.parse(m);frames++;if(e.type==='update_output')text+=e.data.chunk;else console.log(e)})
await new Promise(r=>ws.on('close',(c)=>{console.log('close',c);r()}))
console.log({frames,len:text.length})
const h=await j('GET','/api/updates/history',undefined,t)
console.log(h[0].output===text,h[0].status); console.log(text.slice(-300))
await j('GET','/api/updates/packages?target=lxc:101',undefined,t)
