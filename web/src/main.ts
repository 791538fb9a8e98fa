// The page's entry.

import { mount } from 'svelte';
import App from './App.svelte';
import { keepToken } from './lib/api';
import './styles/base.css';
import './styles/board.css';

keepToken();
const target = document.getElementById('app')!;
target.replaceChildren();
mount(App, { target });
