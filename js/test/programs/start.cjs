require('../../register.js');
